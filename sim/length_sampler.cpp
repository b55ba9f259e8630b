// SPDX-License-Identifier: Apache-2.0
#include "sim/length_sampler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/portable_math.h"

namespace poolcast {
namespace {

/// Parameters of the normal under a lognormal of the given mean and coefficient of variation.
void lognormal_parameters(double mean, double cv, double& mu, double& sigma) {
  const double variance = portable_log(1 + cv * cv);
  sigma = std::sqrt(variance);
  mu = portable_log(mean) - variance / 2;
}

}  // namespace

LengthSampler::LengthSampler(const LengthSpec& spec) : spec_(spec) {
  spec_.max = std::min(spec_.max, kLongest);
  spec_.min = std::min(spec_.min, spec_.max);
  if (spec.kind == LengthSpec::Kind::kLognormal) lognormal_parameters(spec.mean, spec.cv, mu_, sigma_);
  if (spec.kind != LengthSpec::Kind::kEmpirical) return;
  std::vector<double> weights;
  for (const auto& [tokens, weight] : spec.table) weights.push_back(weight);
  table_ = AliasTable(weights);
}

std::int64_t LengthSampler::rounded(double tokens) const {
  // Compared as doubles first: a huge sample must not overflow the integer.
  if (tokens >= static_cast<double>(spec_.max)) return spec_.max;
  return std::clamp(static_cast<std::int64_t>(tokens + 0.5), spec_.min, spec_.max);
}

std::int64_t LengthSampler::sample(RandomStream& random) const {
  switch (spec_.kind) {
    case LengthSpec::Kind::kFixed:
      return rounded(spec_.mean);
    case LengthSpec::Kind::kLognormal:
      return rounded(portable_exp(mu_ + sigma_ * random.normal()));
    case LengthSpec::Kind::kExponential:
      return rounded(random.exponential(spec_.mean));
    case LengthSpec::Kind::kUniform: {
      const std::uint64_t width = static_cast<std::uint64_t>(spec_.max) - static_cast<std::uint64_t>(spec_.min) + 1;
      return spec_.min + static_cast<std::int64_t>(random.below(width));
    }
    case LengthSpec::Kind::kEmpirical:
      return std::clamp(spec_.table[table_.draw(random)].first, spec_.min, spec_.max);
  }
  return spec_.min;
}

LengthSpec at_least_one(LengthSpec spec) {
  spec.min = std::max<std::int64_t>(spec.min, 1);
  spec.max = std::max<std::int64_t>(spec.max, 1);
  return spec;
}

ThinkSampler::ThinkSampler(const ThinkSpec& spec) : spec_(spec) {
  if (spec.mean.value <= 0) spec_.kind = ThinkSpec::Kind::kFixed, spec_.mean = Seconds(0);
  if (spec_.kind == ThinkSpec::Kind::kLognormal) lognormal_parameters(spec.mean.value, spec.cv, mu_, sigma_);
}

SimTime ThinkSampler::sample(RandomStream& random) const {
  constexpr double kLongest = 1e9;  // s: three decades stand for "never", and the clock cannot overflow
  double seconds = spec_.mean.value;
  if (spec_.kind == ThinkSpec::Kind::kExponential) seconds = random.exponential(seconds);
  if (spec_.kind == ThinkSpec::Kind::kLognormal) seconds = portable_exp(mu_ + sigma_ * random.normal());
  return to_sim_time(Seconds(std::min(seconds, kLongest)));
}

}  // namespace poolcast
