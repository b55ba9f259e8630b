// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/gemm/gemm_case.h"
#include "kernels/gemm/weight.h"
#include "kernels/prepared.h"

namespace poolcast::kernels {

/// A GEMM by an implementation of Weight, as MakeRun<GemmCase>.
template <MakeWeight make>
std::function<void()> product(GemmCase& data, Memory& memory, Team& team) {
  std::shared_ptr<Weight> weight = make({data.dtype, data.n, data.k}, data.b, memory);
  return [&data, &team, weight] { weight->multiply(data.a, data.m, data.c, team); };
}

/// The same as Kernel::prepare.
template <MakeWeight make>
constexpr auto prepare_product = prepare<GemmCase, product<make>>;

}  // namespace poolcast::kernels
