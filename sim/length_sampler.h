// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/alias_table.h"
#include "sim/random.h"
#include "sim/workload.h"

namespace poolcast {

/// Draws token counts from a LengthSpec: to the nearest integer, then clamped to [min, max].
///
/// lognormal: exp(mu + sigma z) with sigma^2 = ln(1 + cv^2) and mu = ln(mean) - sigma^2 / 2, so that `mean` and `cv`
/// are those of the lengths themselves. uniform: every integer of [min, max] alike. No sample exceeds `kLongest`, so
/// that sums of samples cannot overflow.
class LengthSampler {
 public:
  static constexpr std::int64_t kLongest = std::int64_t{1} << 40;

  explicit LengthSampler(const LengthSpec& spec);
  std::int64_t sample(RandomStream& random) const;

 private:
  std::int64_t rounded(double tokens) const;

  LengthSpec spec_;
  double mu_ = 0, sigma_ = 0;
  AliasTable table_;
};

/// The same lengths, none below 1: for prompts, outputs and turns, of which a request or a session needs one.
LengthSpec at_least_one(LengthSpec spec);

/// Draws times of thinking from a ThinkSpec.
class ThinkSampler {
 public:
  explicit ThinkSampler(const ThinkSpec& spec);
  SimTime sample(RandomStream& random) const;

 private:
  ThinkSpec spec_;
  double mu_ = 0, sigma_ = 0;
};

}  // namespace poolcast
