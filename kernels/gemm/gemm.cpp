// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.h"

#include "kernels/cpu.h"
#include "kernels/gemm/product.h"
#include "kernels/prepared.h"

namespace poolcast::kernels {
namespace {

std::string why_not_avx512(const KernelProblem& problem) { return why_no_avx512_product(problem.dtype); }

std::string why_not_amx(const KernelProblem& problem) { return why_no_amx_product(problem.dtype); }

constexpr Kernel kGemmKernels[] = {
    {Operation::kGemm, "reference", DeviceKind::kCpu, "dot products in double", never,
     prepare_product<reference_weight>},
    {Operation::kGemm, "portable_naive", DeviceKind::kCpu, "plain C++, dot products down columns", never,
     prepare_product<portable_naive_weight>},
    {Operation::kGemm, "portable", DeviceKind::kCpu, "plain C++, multiples of rows added up, which compilers vectorise",
     never, prepare_product<portable_weight>},
    {Operation::kGemm, "avx512", DeviceKind::kCpu, "packed panels, 6 x 64 sums in registers (FMA, vdpbf16ps, vpdpbusd)",
     why_not_avx512, prepare_product<avx512_weight>},
    {Operation::kGemm, "amx", DeviceKind::kCpu, "packed tiles, 32 x 32 sums in four tiles (tdpbf16ps, tdpbssd)",
     why_not_amx, prepare_product<amx_weight>},
};

}  // namespace

std::string why_no_avx512_product(DType dtype) {
  if (dtype == DType::kFp32) return why_no_avx512();
  return dtype == DType::kBf16 ? why_no_avx512_bf16() : why_no_avx512_vnni();
}

std::string why_no_amx_product(DType dtype) {
  if (dtype == DType::kFp32) return "AMX has no fp32 tiles";
  return dtype == DType::kBf16 ? why_no_amx_bf16() : why_no_amx_int8();
}

std::span<const Kernel> gemm_kernels() { return kGemmKernels; }

}  // namespace poolcast::kernels
