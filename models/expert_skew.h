// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/transformer.h"

namespace poolcast {

/// Tokens of the busiest of `ep` groups of experts over the mean, by expectation, when the popularity of experts
/// follows Zipf's law with exponent `skew` >= 0 (0 = uniform).
///
/// The expert of popularity i, of E, is among the k of a token with probability min(1, c / i^skew), with c such that
/// these add up to k. Experts are dealt out to the groups in turn, the most popular first, as a load balancer without
/// copies of experts would: group 1 has the experts 1, ep + 1, 2 ep + 1, … and is the busiest. A placement that knows
/// nothing of popularity is less even. The result is a multiple of 1e-6, so that every machine gets the same one.
///
/// Throws ModelError when `skew` is negative or not a number.
double expert_imbalance(const MoeShape& moe, std::int64_t ep, double skew);

}  // namespace poolcast
