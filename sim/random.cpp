// SPDX-License-Identifier: Apache-2.0
#include "sim/random.h"

#include <bit>
#include <cmath>

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

std::uint64_t RandomStream::next() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
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

double RandomStream::exponential(double mean) { return -mean * std::log1p(-uniform()); }

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  double u, v, s;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double factor = std::sqrt(-2 * std::log(s) / s);
  spare_normal_ = v * factor;
  has_spare_ = true;
  return u * factor;
}

double RandomStream::gamma(double shape, double scale) {
  if (shape < 1) {
    const double boosted = gamma(shape + 1, scale);
    return boosted * std::pow(1 - uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = 1 - uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

}  // namespace poolcast
