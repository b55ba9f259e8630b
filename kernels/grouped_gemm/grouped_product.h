// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/grouped_gemm/experts.h"
#include "kernels/prepared.h"

namespace poolcast::kernels {

/// A grouped GEMM as a loop over an implementation of Weight, as MakeRun<GroupedCase>.
template <MakeWeight make>
std::function<void()> looped_product(GroupedCase& data, Memory& memory, Team& team) {
  const ExpertsShape shape{{data.dtype, data.n, data.k}, data.experts};
  auto experts = std::make_shared<LoopedExperts>(shape, make, data.weights, memory);
  return [&data, &team, experts] { experts->multiply(data.rows, data.routing, data.c, team); };
}

/// The same as Kernel::prepare.
template <MakeWeight make>
constexpr auto prepare_looped = prepare<GroupedCase, looped_product<make>>;

}  // namespace poolcast::kernels
