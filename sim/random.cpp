// SPDX-License-Identifier: Apache-2.0
#include "sim/random.h"

#include <cmath>

#include "sim/portable_math.h"

namespace poolcast {
namespace {

std::uint64_t splitmix64(std::uint64_t& x) {
  std::uint64_t z = (x += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) {
  std::uint64_t x = seed;
  x = splitmix64(x) ^ fnv1a(name);
  for (auto& word : state_) word = splitmix64(x);
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  std::uint64_t x = seed;
  x = splitmix64(x) ^ fnv1a(name);
  x = splitmix64(x) ^ index;
  for (auto& word : state_) word = splitmix64(x);
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  __extension__ using u128 = unsigned __int128;
  u128 product = static_cast<u128>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = -bound % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<u128>(next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::exponential_edge(std::size_t layer, double x) {
  const Ziggurat& z = kExponentialZiggurat;
  double shift = 0;
  while (true) {
    if (layer == 0) {
      shift += kExponentialTail;  // the tail of an exponential is the same exponential, moved
    } else if (z.y[layer] + (z.y[layer + 1] - z.y[layer]) * uniform() < portable_exp(-x)) {
      return shift + x;
    }
    const std::uint64_t bits = next();
    layer = bits & (Ziggurat::kLayers - 1);
    x = unit(bits) * z.x[layer];
    if (x < z.x[layer + 1]) return shift + x;
  }
}

double RandomStream::normal_edge(std::size_t layer, double x) {
  const Ziggurat& z = kNormalZiggurat;
  while (true) {
    if (layer == 0) {  // Marsaglia 1964: the tail beyond r
      double beyond, bound;
      do {
        beyond = -portable_log(1 - uniform()) / kNormalTail;
        bound = -portable_log(1 - uniform());
      } while (2 * bound < beyond * beyond);
      return kNormalTail + beyond;
    }
    if (z.y[layer] + (z.y[layer + 1] - z.y[layer]) * uniform() < portable_exp(-0.5 * x * x)) return x;
    const std::uint64_t bits = next();
    layer = bits & (Ziggurat::kLayers - 1);
    x = unit(bits) * z.x[layer];
    if (x < z.x[layer + 1]) return x;
  }
}

double RandomStream::gamma(double shape, double scale) {
  if (shape < 1) {
    const double boosted = gamma(shape + 1, scale);
    return boosted * portable_pow(1 - uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = 1 - uniform();
    const double x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2) return d * v * scale;  // their squeeze, which spares most of the logarithms
    if (portable_log(u) < 0.5 * x2 + d - d * v + d * portable_log(v)) return d * v * scale;
  }
}

}  // namespace poolcast
