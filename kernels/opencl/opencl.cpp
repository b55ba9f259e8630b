// SPDX-License-Identifier: Apache-2.0
#include "kernels/opencl/opencl.h"

#include "kernels/opencl/launches.h"
#include "kernels/opencl/prepared.h"

namespace poolcast::kernels {
namespace {

std::string why_not(const KernelProblem& problem) {
  for (const Dim& dim : problem.shape)
    if (dim.value > std::int64_t{1} << 30) return dim.name + " is greater than 2^30";
  return opencl_device_name().empty() ? "no OpenCL device (on a CPU: Debian package pocl-opencl-icd)" : "";
}

std::string why_not_attention(const KernelProblem& problem) {
  if (problem.dim("head_dim") > 256) return "head_dim is greater than 256";
  return why_not(problem);
}

std::string why_not_decode(const KernelProblem& problem) {
  if (problem.dim("heads") / problem.dim("kv_heads") > 16) return "more than 16 query heads to a KV head";
  return why_not_attention(problem);
}

constexpr Kernel row(Operation operation) {
  return {operation, "opencl", DeviceKind::kOpenCl, "64 items a row", why_not, prepare<RowCase, opencl_rows>};
}

constexpr Kernel kOpenClKernels[] = {
    {Operation::kGemm, "opencl", DeviceKind::kOpenCl,
     "tiles of up to 64 x 64 in local memory, 16 x 4 an item; up to 16 rows split over k", why_not,
     prepare<GemmCase, opencl_gemm>},
    {Operation::kGroupedGemm, "opencl", DeviceKind::kOpenCl, "the same tiles, by expert, in one launch", why_not,
     prepare<GroupedCase, opencl_grouped_gemm>},
    {Operation::kPrefillAttention, "opencl", DeviceKind::kOpenCl,
     "tiles of 32 rows of all query heads of a KV head x 64 tokens in local memory, online softmax", why_not_attention,
     prepare<AttentionCase, opencl_prefill>},
    {Operation::kDecodeAttention, "opencl", DeviceKind::kOpenCl,
     "64 items for a KV head of a request, all its query heads", why_not_decode, prepare<AttentionCase, opencl_decode>},
    row(Operation::kSoftmax),
    row(Operation::kCrossEntropy),
    row(Operation::kRmsNorm),
    row(Operation::kSiluGate),
    row(Operation::kResidualAdd),
    {Operation::kRotary, "opencl", DeviceKind::kOpenCl, "an item a pair, cosines and sines from a table", why_not,
     prepare<RotaryCase, opencl_rotary>},
    {Operation::kKvStore, "opencl", DeviceKind::kOpenCl, "an item an element of K and V", why_not,
     prepare<KvStoreCase, opencl_store>},
    {Operation::kKvCopy, "opencl", DeviceKind::kOpenCl, "64 items a block of K or V", why_not,
     prepare<KvCopyCase, opencl_copy_blocks>},
};

}  // namespace

std::span<const Kernel> opencl_kernels() { return kOpenClKernels; }
std::string_view why_no_opencl() { return ""; }

}  // namespace poolcast::kernels
