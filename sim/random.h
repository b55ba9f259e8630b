// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/ziggurat.h"

namespace poolcast {

/// A named stream of random numbers. Streams of different names are independent, and a stream does not depend on which
/// other streams exist or in which order they are drawn: so two candidates of a comparison meet the same random world.
///
/// Generator: xoshiro256++ (Blackman, Vigna: "Scrambled linear pseudorandom number generators", 2021), its state filled
/// by splitmix64 from the seed and the FNV-1a hash of the name. Distributions are our own, so that results depend
/// neither on a standard library nor on a machine's variant of the C library.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);
  /// One of many streams of one name, such as one per user or per interval: cheap to make anew where it is needed.
  RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index);

  std::uint64_t next() {
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
  /// Uniform in [0, 1), 53 bits.
  double uniform() { return unit(next()); }
  /// Uniform integer in [0, bound), without bias (Lemire 2019). `bound` > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Exponential with the given mean (ziggurat).
  double exponential(double mean) {
    const std::uint64_t bits = next();
    const std::size_t layer = bits & (Ziggurat::kLayers - 1);
    const double x = unit(bits) * kExponentialZiggurat.x[layer];
    return mean * (x < kExponentialZiggurat.x[layer + 1] ? x : exponential_edge(layer, x));
  }
  /// Standard normal (ziggurat).
  double normal() {
    const std::uint64_t bits = next();
    const std::size_t layer = bits & (Ziggurat::kLayers - 1);
    const double x = unit(bits) * kNormalZiggurat.x[layer];
    const double size = x < kNormalZiggurat.x[layer + 1] ? x : normal_edge(layer, x);
    return (bits >> (kLayerBits)) & 1u ? -size : size;
  }
  /// Gamma with mean `shape * scale` (Marsaglia, Tsang 2000; shape < 1 by the boost of the same paper).
  double gamma(double shape, double scale);

 private:
  // The lowest 8 bits choose a layer, the next one a sign, the highest 53 the place: they do not overlap.
  static constexpr int kLayerBits = 8;
  static double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }
  /// What is left of a draw that fell outside the inner rectangle of its layer: accepted, or drawn anew.
  double exponential_edge(std::size_t layer, double x);
  double normal_edge(std::size_t layer, double x);

  std::array<std::uint64_t, 4> state_;
};

}  // namespace poolcast
