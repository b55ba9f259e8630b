// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace poolcast {

/// A named stream of random numbers. Streams of different names are independent, and a stream does not depend on which
/// other streams exist or in which order they are drawn: so two candidates of a comparison meet the same random world.
///
/// Generator: xoshiro256++ (Blackman, Vigna: "Scrambled linear pseudorandom number generators", 2021), its state filled
/// by splitmix64 from the seed and the FNV-1a hash of the name. Distributions are our own, so that results do not
/// depend on a standard library.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  std::uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Uniform integer in [0, bound), without bias (Lemire 2019). `bound` > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Exponential with the given mean.
  double exponential(double mean);
  /// Standard normal (polar method; the second value of a pair is kept).
  double normal();
  /// Gamma with mean `shape * scale` (Marsaglia, Tsang 2000; shape < 1 by the boost of the same paper).
  double gamma(double shape, double scale);

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace poolcast
