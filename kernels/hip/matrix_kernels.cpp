// SPDX-License-Identifier: Apache-2.0
#include "kernels/hip/matrix_kernels.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/attention/attention_case.h"
#include "kernels/gemm/gemm_case.h"
#include "kernels/hip/cdna.h"
#include "kernels/hip/device_run.h"

namespace poolcast::hip {
namespace {

using kernels::AttentionCase;
using kernels::DeviceKind;
using kernels::GemmCase;
using kernels::Kernel;
using kernels::KernelProblem;
using kernels::Operation;

/// W[n, k] from B[k, n], as weights of a linear layer lie in checkpoints; once, before the runs.
std::vector<std::uint16_t> turned(const GemmCase& data) {
  const auto* b = static_cast<const std::uint16_t*>(data.b);
  std::vector<std::uint16_t> weights(static_cast<std::size_t>(data.n * data.k));
  for (std::int64_t k = 0; k < data.k; ++k)
    for (std::int64_t n = 0; n < data.n; ++n) weights[static_cast<std::size_t>(n * data.k + k)] = b[k * data.n + n];
  return weights;
}

void gemm(GemmCase& data, DeviceRun& run) {
  Gemm g;
  g.a = static_cast<std::uint16_t*>(run.input(data.a, data.m * data.k * 2));
  g.weights = run.input(turned(data));
  g.c = static_cast<std::uint16_t*>(run.output(data.c, data.m * data.n * 2));
  g.m = static_cast<int>(data.m);
  g.n = static_cast<int>(data.n);
  g.k = static_cast<int>(data.k);
  run.launch = [g] { launch(g); };
}

/// Splits that give each compute unit about two blocks, none shorter than 256 tokens.
int splits_of(const AttentionCase& data) {
  const std::int64_t row_tiles = (data.heads / data.cache.kv_heads + 15) / 16;
  const std::int64_t blocks = data.requests * data.cache.kv_heads * row_tiles;
  const std::int64_t wanted = (2 * device().compute_units + blocks - 1) / blocks;
  return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, data.total / 256), 1, 64));
}

/// What decode and prefill have in common.
template <class Attention>
Attention attention_of(AttentionCase& data, DeviceRun& run) {
  const kernels::KvCache& cache = data.cache;
  const std::int64_t cache_bytes = data.cache_blocks * cache.kv_heads * cache.block * cache.head_dim * 2;
  const std::int64_t query_bytes = data.requests * data.query * data.heads * cache.head_dim * 2;
  Attention a;
  a.q = static_cast<std::uint16_t*>(run.input(data.q, query_bytes));
  a.out = static_cast<std::uint16_t*>(run.output(data.out, query_bytes));
  a.keys = static_cast<std::uint16_t*>(run.input(cache.k, cache_bytes));
  a.values = static_cast<std::uint16_t*>(run.input(cache.v, cache_bytes));
  a.block_tokens = static_cast<int>(cache.block);
  a.heads = static_cast<int>(data.heads);
  a.kv_heads = static_cast<int>(cache.kv_heads);
  a.head_dim = static_cast<int>(cache.head_dim);
  return a;
}

void decode(AttentionCase& data, DeviceRun& run) {
  auto d = attention_of<Decode>(data, run);
  d.block_tables = run.input(data.blocks);
  d.blocks_per_request = static_cast<int>(static_cast<std::int64_t>(data.blocks.size()) / data.requests);
  d.context = static_cast<int>(data.total);
  d.requests = static_cast<int>(data.requests);
  d.splits = splits_of(data);
  d.workspace = static_cast<float*>(run.scratch(data.requests * data.heads * d.splits * (data.cache.head_dim + 2) * 4));
  run.launch = [d] { launch(d); };
}

void prefill(AttentionCase& data, DeviceRun& run) {
  auto p = attention_of<Prefill>(data, run);
  p.block_table = run.input(data.blocks);
  p.query = static_cast<int>(data.query);
  p.context = static_cast<int>(data.total - data.query);
  run.launch = [p] { launch(p); };
}

std::string why_not_bf16(const KernelProblem& problem) {
  const std::string why = why_not_here(problem);
  return why.empty() && problem.dtype != kernels::DType::kBf16 ? "bf16 only" : why;
}

std::string why_not_gemm(const KernelProblem& problem) {
  const std::string why = why_not_bf16(problem);
  if (!why.empty()) return why;
  if (problem.dim("m") > 65535 * 128LL) return "m must be at most 8388480";
  return problem.dim("k") % 8 == 0 ? "" : "k must be a multiple of 8";
}

std::string why_not_attention(const KernelProblem& problem) {
  const std::string why = why_not_bf16(problem);
  if (!why.empty()) return why;
  const std::int64_t head_dim = problem.dim("head_dim");
  return head_dim == 64 || head_dim == 128 ? "" : "head_dim must be 64 or 128";
}

std::string why_not_decode(const KernelProblem& problem) {
  const std::string why = why_not_attention(problem);
  if (!why.empty()) return why;
  return problem.dim("requests") <= 65535 && problem.dim("heads") <= 65535 ? "" : "too many for one launch";
}

std::string why_not_prefill(const KernelProblem& problem) {
  const std::string why = why_not_attention(problem);
  if (!why.empty()) return why;
  const bool fits = problem.dim("kv_heads") <= 65535 && problem.dim("query") < (1 << 24) &&
                    problem.dim("heads") / problem.dim("kv_heads") <= 64 &&
                    problem.dim("query") + problem.dim("context") < std::numeric_limits<int>::max() - 64;
  return fits ? "" : "too much for one launch";
}

constexpr Kernel kMatrixKernels[] = {
    {Operation::kGemm, "hip_cdna", DeviceKind::kHip, "MFMA 32 x 32 x 8, 128 x 128 tiles in LDS, four waves of 64",
     why_not_gemm, prepare<GemmCase, gemm>},
    {Operation::kPrefillAttention, "hip_cdna", DeviceKind::kHip,
     "MFMA 32 x 32 x 8, 128 rows of a KV head's query heads, tiles of 32 tokens in LDS, running softmax",
     why_not_prefill, prepare<AttentionCase, prefill>},
    {Operation::kDecodeAttention, "hip_cdna", DeviceKind::kHip,
     "MFMA 16 x 16 x 16, scores transposed so that weights stay in their lanes, split over tokens", why_not_decode,
     prepare<AttentionCase, decode>},
};

}  // namespace

std::span<const Kernel> matrix_kernels() { return kMatrixKernels; }

}  // namespace poolcast::hip
