// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include "kernels/attention/attention_case.h"
#include "kernels/attention/avx512_decode.h"
#include "kernels/attention/prepared_decode.h"
#include "kernels/cpu.h"
#include "kernels/prepared.h"

namespace poolcast::kernels {
namespace {

constexpr Operation kDecode = Operation::kDecodeAttention, kPrefill = Operation::kPrefillAttention;

template <Attend attend>
std::function<void()> attention(AttentionCase& data, Memory&, Team& team) {
  return [&data, &team] { attend(data.cache, data.heads, data.sequences, team); };
}

template <Attend attend>
constexpr auto prepare_attention = prepare<AttentionCase, attention<attend>>;

std::string unfit(const KernelProblem& problem) {
  if (problem.dtype != DType::kBf16) return "attention in bf16 only";
  const std::int64_t head_dim = problem.dim("head_dim");
  if (head_dim % 32 != 0 || head_dim > kMostHeadDim) return "head_dim must be a multiple of 32 up to 256";
  return "";
}

std::string why_not_avx512(const KernelProblem& problem) {
  const std::string reason = unfit(problem);
  return reason.empty() ? why_no_avx512_bf16() : reason;
}

std::string why_not_amx(const KernelProblem& problem) {
  std::string reason = unfit(problem);
  if (reason.empty() && problem.dim("block") % 16 != 0) reason = "blocks must be multiples of 16 tokens";
  return reason.empty() ? why_no_amx_bf16() : reason;
}

std::string why_not_amx_prefill(const KernelProblem& problem) {
  const std::string reason = unfit(problem);
  return reason.empty() ? why_no_amx_bf16() : reason;
}

constexpr Kernel kAttentionKernels[] = {
    {kPrefill, "reference", DeviceKind::kCpu, "row by row in double", never, prepare_attention<reference_attention>},
    {kPrefill, "portable_naive", DeviceKind::kCpu, "plain C++, query head by query head", never,
     prepare_attention<portable_naive_attention>},
    {kPrefill, "portable", DeviceKind::kCpu, "plain C++, the query heads of a KV head together, block by block", never,
     prepare_attention<portable_attention>},
    {kPrefill, "avx512", DeviceKind::kCpu, "vdpbf16ps over packed panels, 6 rows by 64 tokens, softmax on the way",
     why_not_avx512, prepare_attention<avx512_prefill_attention>},
    {kPrefill, "amx", DeviceKind::kCpu, "tdpbf16ps over packed panels, 16 rows by 64 tokens", why_not_amx_prefill,
     prepare_attention<amx_prefill_attention>},
    {kDecode, "reference", DeviceKind::kCpu, "row by row in double", never, prepare_decode<reference_attention>},
    {kDecode, "portable_naive", DeviceKind::kCpu, "plain C++, query head by query head", never,
     prepare_decode<portable_naive_attention>},
    {kDecode, "portable", DeviceKind::kCpu, "plain C++, the query heads of a KV head together, block by block", never,
     prepare_decode<portable_attention>},
    {kDecode, "avx512", DeviceKind::kCpu, "vdpbf16ps; K and V read once for the query heads of a KV head",
     why_not_avx512, prepare_decode<avx512_decode_attention>},
    {kDecode, "amx", DeviceKind::kCpu, "tdpbf16ps; K as it lies in the cache, up to 16 query heads at once",
     why_not_amx, prepare_decode<amx_decode_attention>},
};

}  // namespace

std::span<const Kernel> attention_kernels() { return kAttentionKernels; }

}  // namespace poolcast::kernels
