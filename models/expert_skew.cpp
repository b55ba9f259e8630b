// SPDX-License-Identifier: Apache-2.0
#include "models/expert_skew.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/error.h"

namespace poolcast {
namespace {

double d(std::int64_t count) { return static_cast<double>(count); }

/// By popularity: the probability that a token uses an expert.
std::vector<double> use_of_experts(const MoeShape& moe, double skew) {
  std::vector<double> use;
  double rest = 0;
  for (std::int64_t i = 1; i <= moe.experts; ++i) {
    use.push_back(std::pow(d(i), -skew));
    rest += use.back();
  }
  double left = d(moe.experts_per_token);
  auto next = use.begin();
  for (; next != use.end() && left > 0 && left * *next >= rest; ++next) {  // those that every token uses
    rest -= *next;
    *next = 1;
    left -= 1;
  }
  const double scale = rest > 0 ? left / rest : 0;
  std::for_each(next, use.end(), [scale](double& weight) { weight *= scale; });
  return use;
}

}  // namespace

double expert_imbalance(const MoeShape& moe, std::int64_t ep, double skew) {
  if (!(skew >= 0) || !std::isfinite(skew)) throw ModelError("expert_skew must be a number of at least 0");
  const std::vector<double> use = use_of_experts(moe, skew);
  double busiest = 0;
  for (std::size_t i = 0; i < use.size(); i += static_cast<std::size_t>(ep)) busiest += use[i];
  return std::round(busiest / (d(moe.experts_per_token) / d(ep)) * 1e6) / 1e6;
}

}  // namespace poolcast
