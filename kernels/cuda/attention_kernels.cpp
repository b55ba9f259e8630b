// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention_kernels.h"

#include "kernels/attention/attention_case.h"
#include "kernels/cuda/device_run.h"
#include "kernels/cuda/hopper.h"
#include "kernels/cuda/portable.h"

namespace poolcast::cuda {
namespace {

using kernels::AttentionCase;
using kernels::DeviceKind;
using kernels::DType;
using kernels::Kernel;
using kernels::KernelProblem;
using kernels::Operation;

PagedCache cache_of(const AttentionCase& data, DeviceRun& run) {
  const kernels::KvCache& host = data.cache;
  const std::int64_t of_block = host.kv_heads * host.block * host.head_dim;
  const auto bytes = static_cast<std::size_t>(data.cache_blocks * of_block * kernels::bytes_per_element(host.dtype));
  PagedCache cache;
  cache.kind = kind_of(host.dtype);
  cache.keys = run.input(host.k, bytes);
  cache.values = run.input(host.v, bytes);
  cache.strides = {of_block, host.head_dim, host.block * host.head_dim};
  cache.blocks = static_cast<int>(data.cache_blocks);
  cache.block_tokens = static_cast<int>(host.block);
  cache.kv_heads = static_cast<int>(host.kv_heads);
  cache.head_dim = static_cast<int>(host.head_dim);
  return cache;
}

std::size_t query_bytes(const AttentionCase& data) {
  return static_cast<std::size_t>(data.requests * data.query * data.heads * data.cache.head_dim *
                                  kernels::bytes_per_element(data.cache.dtype));
}

DecodeAttention decode_of(AttentionCase& data, DeviceRun& run) {
  DecodeAttention a;
  a.q = run.input(data.q, query_bytes(data));
  a.out = run.output(data.out, query_bytes(data));
  a.cache = cache_of(data, run);
  a.block_tables = run.input(data.blocks);
  a.blocks_per_request = static_cast<int>(data.blocks.size()) / static_cast<int>(data.requests);
  a.contexts = run.input(std::vector<int>(static_cast<std::size_t>(data.requests), static_cast<int>(data.total)));
  a.requests = static_cast<int>(data.requests);
  a.heads = static_cast<int>(data.heads);
  a.longest_context = static_cast<int>(data.total);
  return a;
}

PrefillAttention prefill_of(AttentionCase& data, DeviceRun& run) {
  PrefillAttention a;
  a.q = run.input(data.q, query_bytes(data));
  a.out = run.output(data.out, query_bytes(data));
  a.cache = cache_of(data, run);
  a.block_table = run.input(data.blocks);
  a.query = static_cast<int>(data.query);
  a.context = static_cast<int>(data.total - data.query);
  a.heads = static_cast<int>(data.heads);
  return a;
}

void portable_decode(AttentionCase& data, DeviceRun& run) {
  run.launch = [attention = decode_of(data, run)] { launch_portable(attention, nullptr); };
}

void portable_prefill(AttentionCase& data, DeviceRun& run) {
  run.launch = [attention = prefill_of(data, run)] { launch_portable(attention, nullptr); };
}

void hopper_decode(AttentionCase& data, DeviceRun& run) {
  const DecodeAttention attention = decode_of(data, run);
  const long floats = workspace_floats(attention, device().multiprocessors);
  auto* workspace = static_cast<float*>(run.scratch(static_cast<std::size_t>(floats) * sizeof(float)));
  const HopperDecode plan = plan_hopper_decode(attention, device().multiprocessors, workspace);
  run.launch = [plan] { launch(plan, nullptr); };
}

void hopper_prefill(AttentionCase& data, DeviceRun& run) {
  run.launch = [plan = plan_hopper_prefill(prefill_of(data, run))] { launch(plan, nullptr); };
}

std::string why_not_portable(const KernelProblem& problem) {
  std::string why = why_not_here(problem);
  if (why.empty() && problem.dim("head_dim") > kPortableMaxHeadDim) {
    why = "head_dim must be at most " + std::to_string(kPortableMaxHeadDim);
  }
  const bool decode = problem.operation == Operation::kDecodeAttention;
  const std::int64_t across = decode ? problem.dim("requests") : problem.dim("query") / 64;
  return why.empty() && across > 65534 ? "too many requests or query tokens for one launch" : why;
}

std::string why_not_hopper(const KernelProblem& problem) {
  std::string why = why_not_on(9, 0, problem);
  if (why.empty() && problem.dtype != DType::kBf16) why = "bf16 only";
  return why;
}

std::string why_not_hopper_decode(const KernelProblem& problem) {
  std::string why = why_not_hopper(problem);
  const std::int64_t head_dim = problem.dim("head_dim");
  if (why.empty() && head_dim != 64 && head_dim != 128) why = "head_dim must be 64 or 128";
  if (why.empty() && (problem.dim("requests") > 65535 || problem.dim("heads") > 65535)) why = "too many for one launch";
  return why;
}

std::string why_not_hopper_prefill(const KernelProblem& problem) {
  const std::string why = why_not_hopper(problem);
  if (!why.empty()) return why;
  return why_no_hopper_prefill(static_cast<int>(problem.dim("head_dim")), static_cast<int>(problem.dim("block")));
}

constexpr Kernel kAttentionKernels[] = {
    {Operation::kPrefillAttention, "cuda_portable", DeviceKind::kCuda,
     "SIMT, 64 query rows and tiles of 32 tokens in shared memory, running softmax", why_not_portable,
     prepare<AttentionCase, portable_prefill>},
    {Operation::kPrefillAttention, "cuda_hopper", DeviceKind::kCuda,
     "sm_90a: pages by TMA, wgmma 64 x 128, scores of a tile under the values of the one before",
     why_not_hopper_prefill, prepare<AttentionCase, hopper_prefill>},
    {Operation::kDecodeAttention, "cuda_portable", DeviceKind::kCuda,
     "SIMT, a block a query head, a warp a token, running softmax", why_not_portable,
     prepare<AttentionCase, portable_decode>},
    {Operation::kDecodeAttention, "cuda_hopper", DeviceKind::kCuda,
     "sm_90a: the query heads of a KV head together, split over tokens, cp.async rings, mma.sync",
     why_not_hopper_decode, prepare<AttentionCase, hopper_decode>},
};

}  // namespace

std::span<const Kernel> attention_kernels() { return kAttentionKernels; }

}  // namespace poolcast::cuda
