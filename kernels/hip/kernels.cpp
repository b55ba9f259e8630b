// SPDX-License-Identifier: Apache-2.0
#include "kernels/hip/kernels.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/attention/attention_case.h"
#include "kernels/gemm/gemm_case.h"
#include "kernels/hip/cdna.h"
#include "kernels/hip/device.h"
#include "kernels/memory.h"

namespace poolcast::hip {
namespace {

using kernels::AttentionCase;
using kernels::GemmCase;
using kernels::Kernel;
using kernels::KernelProblem;

/// Device memory of one prepared kernel. One output.
class DeviceMemory {
 public:
  void* input(const void* host, std::int64_t bytes) {
    void* copy = scratch(bytes);
    buffers_.back().upload(host);
    return copy;
  }
  void* output(void* host, std::int64_t bytes) {
    host_output_ = host;
    output_ = buffers_.size();
    return input(host, bytes);
  }
  void* scratch(std::int64_t bytes) {
    buffers_.emplace_back(static_cast<std::size_t>(bytes));
    return buffers_.back().get();
  }
  void upload_output() const { buffers_[output_].upload(host_output_); }
  void download_output() const { buffers_[output_].download(host_output_); }

 private:
  std::vector<DeviceBuffer> buffers_;
  void* host_output_ = nullptr;
  std::size_t output_ = 0;
};

/// `make` copies what the device needs of the case and returns what `launch` takes.
template <class Case, auto make>
class Prepared final : public kernels::PreparedKernel {
 public:
  Prepared(const KernelProblem& problem, std::uint64_t seed)
      : case_(problem, seed, host_), work_(make(case_, device_)) {}
  void run() override {
    timer_.start();
    launch(work_);
    seconds_ = timer_.stop();
  }
  void poison() override {
    case_.poison();
    device_.upload_output();
  }
  double error() override {
    device_.download_output();
    return case_.error();
  }
  void cool() override { flush_caches(); }
  std::optional<Seconds> device_seconds() const override { return seconds_; }

 private:
  kernels::Memory host_;
  Case case_;
  DeviceMemory device_;
  decltype(make(case_, device_)) work_;
  EventTimer timer_;
  std::optional<Seconds> seconds_;
};

template <class Case, auto make>
std::unique_ptr<kernels::PreparedKernel> prepare(const KernelProblem& problem, std::uint64_t seed, kernels::Team&) {
  return std::make_unique<Prepared<Case, make>>(problem, seed);
}

/// W[n, k] from B[k, n], as weights of a linear layer lie in checkpoints; once, before the runs.
std::vector<std::uint16_t> turned(const GemmCase& data) {
  const auto* b = static_cast<const std::uint16_t*>(data.b);
  std::vector<std::uint16_t> weights(static_cast<std::size_t>(data.n * data.k));
  for (std::int64_t k = 0; k < data.k; ++k)
    for (std::int64_t n = 0; n < data.n; ++n) weights[static_cast<std::size_t>(n * data.k + k)] = b[k * data.n + n];
  return weights;
}

Gemm gemm_of(GemmCase& data, DeviceMemory& memory) {
  Gemm g;
  g.a = static_cast<std::uint16_t*>(memory.input(data.a, data.m * data.k * 2));
  g.weights = static_cast<std::uint16_t*>(memory.input(turned(data).data(), data.n * data.k * 2));
  g.c = static_cast<std::uint16_t*>(memory.output(data.c, data.m * data.n * 2));
  g.m = static_cast<int>(data.m);
  g.n = static_cast<int>(data.n);
  g.k = static_cast<int>(data.k);
  return g;
}

/// Splits that give each compute unit about two blocks, none shorter than 256 tokens.
int splits_of(const AttentionCase& data) {
  const std::int64_t row_tiles = (data.heads / data.cache.kv_heads + 15) / 16;
  const std::int64_t blocks = data.requests * data.cache.kv_heads * row_tiles;
  const std::int64_t wanted = (2 * device().compute_units + blocks - 1) / blocks;
  return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, data.total / 256), 1, 64));
}

Decode decode_of(AttentionCase& data, DeviceMemory& memory) {
  const kernels::KvCache& cache = data.cache;
  const std::int64_t cache_bytes = data.cache_blocks * cache.kv_heads * cache.block * cache.head_dim * 2;
  const std::int64_t rows = data.requests * data.heads;
  Decode d;
  d.q = static_cast<std::uint16_t*>(memory.input(data.q, rows * cache.head_dim * 2));
  d.out = static_cast<std::uint16_t*>(memory.output(data.out, rows * cache.head_dim * 2));
  d.keys = static_cast<std::uint16_t*>(memory.input(cache.k, cache_bytes));
  d.values = static_cast<std::uint16_t*>(memory.input(cache.v, cache_bytes));
  d.block_tables =
      static_cast<int*>(memory.input(data.blocks.data(), static_cast<std::int64_t>(data.blocks.size()) * 4));
  d.blocks_per_request = static_cast<int>(static_cast<std::int64_t>(data.blocks.size()) / data.requests);
  d.block_tokens = static_cast<int>(cache.block);
  d.context = static_cast<int>(data.total);
  d.requests = static_cast<int>(data.requests);
  d.heads = static_cast<int>(data.heads);
  d.kv_heads = static_cast<int>(cache.kv_heads);
  d.head_dim = static_cast<int>(cache.head_dim);
  d.splits = splits_of(data);
  d.workspace = static_cast<float*>(memory.scratch(rows * d.splits * (cache.head_dim + 2) * 4));
  return d;
}

std::string why_not(const KernelProblem& problem) {
  if (!why_no_device().empty()) return why_no_device();
  const std::string& of = device().architecture;
  if (of != "gfx90a" && of != "gfx940") return "built for gfx90a and gfx940, " + device().name + " is " + of;
  if (problem.dtype != kernels::DType::kBf16) return "bf16 only";
  for (const kernels::Dim& dim : problem.shape) {
    if (dim.value > std::numeric_limits<int>::max()) return dim.name + " is greater than 2^31 - 1";
  }
  return "";
}

std::string why_not_gemm(const KernelProblem& problem) {
  const std::string why = why_not(problem);
  if (!why.empty()) return why;
  if (problem.dim("m") > 65535 * 128LL) return "m must be at most 8388480";
  return problem.dim("k") % 8 == 0 ? "" : "k must be a multiple of 8";
}

std::string why_not_decode(const KernelProblem& problem) {
  const std::string why = why_not(problem);
  if (!why.empty()) return why;
  const std::int64_t head_dim = problem.dim("head_dim");
  if (head_dim != 64 && head_dim != 128) return "head_dim must be 64 or 128";
  return problem.dim("requests") <= 65535 && problem.dim("heads") <= 65535 ? "" : "too many for one launch";
}

constexpr Kernel kKernels[] = {
    {kernels::Operation::kGemm, "hip_cdna", kernels::DeviceKind::kHip,
     "MFMA 32 x 32 x 8, 128 x 128 tiles in LDS, four waves of 64", why_not_gemm, prepare<GemmCase, gemm_of>},
    {kernels::Operation::kDecodeAttention, "hip_cdna", kernels::DeviceKind::kHip,
     "MFMA 16 x 16 x 16, scores transposed so that weights stay in their lanes, split over tokens", why_not_decode,
     prepare<AttentionCase, decode_of>},
};

}  // namespace

std::span<const Kernel> hip_kernels() { return kKernels; }
std::span<const kernels::AbsentPart> absent_hip() { return {}; }

kernels::DeviceFacts facts() {
  kernels::DeviceFacts f;
  f.name = device().name + ", " + device().architecture;
  f.runtime = "HIP";
  f.compiler = "hipcc";
  return f;
}

}  // namespace poolcast::hip
