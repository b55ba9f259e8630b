// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_gemm/grouped_gemm.h"

#include "kernels/gemm/amx.h"
#include "kernels/gemm/avx512.h"
#include "kernels/gemm/gemm.h"
#include "kernels/grouped_gemm/grouped_product.h"

namespace poolcast::kernels {
namespace {

constexpr Operation kOperation = Operation::kGroupedGemm;

template <PanelFormat (*panels)(DType dtype)>
std::function<void()> panel_product(GroupedCase& data, Memory& memory, Team& team) {
  const ExpertsShape shape{{data.dtype, data.n, data.k}, data.experts};
  auto experts = std::make_shared<PanelExperts>(shape, panels(data.dtype), data.weights, memory);
  return [&data, &team, experts] { experts->multiply(data.rows, data.routing, data.c, team); };
}

std::string why_not_avx512(const KernelProblem& problem) { return why_no_avx512_product(problem.dtype); }
std::string why_not_amx(const KernelProblem& problem) { return why_no_amx_product(problem.dtype); }

constexpr Kernel kGroupedKernels[] = {
    {kOperation, "reference", DeviceKind::kCpu, "expert by expert, dot products in double", never,
     prepare_looped<reference_weight>},
    {kOperation, "portable_naive", DeviceKind::kCpu, "plain C++, expert by expert, dot products down columns", never,
     prepare_looped<portable_naive_weight>},
    {kOperation, "portable", DeviceKind::kCpu, "plain C++, expert by expert, multiples of rows added up", never,
     prepare_looped<portable_weight>},
    {kOperation, "avx512", DeviceKind::kCpu, "rows gathered while packed, panels of all experts at once",
     why_not_avx512, prepare<GroupedCase, panel_product<avx512_panels>>},
    {kOperation, "amx", DeviceKind::kCpu, "rows gathered while packed, tiles of all experts at once", why_not_amx,
     prepare<GroupedCase, panel_product<amx_panels>>},
};

}  // namespace

std::span<const Kernel> grouped_gemm_kernels() { return kGroupedKernels; }

}  // namespace poolcast::kernels
