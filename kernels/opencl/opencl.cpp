// SPDX-License-Identifier: Apache-2.0
#include "kernels/opencl/opencl.h"

#include "kernels/attention/attention_case.h"
#include "kernels/gemm/gemm_case.h"
#include "kernels/opencl/device.h"
#include "kernels/opencl/sources.h"
#include "kernels/rows/row_case.h"

namespace poolcast::kernels {
namespace {

/// What an operation copies to the device and launches.
template <class Case>
using MakeOpenClRun = void (*)(Case& data, OpenClRun& run);

template <class Case>
class OpenClPrepared final : public PreparedKernel {
 public:
  OpenClPrepared(const KernelProblem& problem, std::uint64_t seed, MakeOpenClRun<Case> make)
      : case_(problem, seed, host_) {
    make(case_, run_);
  }

  void run() override { seconds_ = run_.launch(); }
  void poison() override {
    case_.poison();
    run_.upload_outputs();
  }
  double error() override {
    run_.download_outputs();
    return case_.error();
  }
  void cool() override { run_.cool(); }
  std::optional<Seconds> device_seconds() const override { return seconds_; }

 private:
  Memory host_;
  Case case_;
  OpenClRun run_;
  std::optional<Seconds> seconds_;
};

template <class Case, MakeOpenClRun<Case> make>
std::unique_ptr<PreparedKernel> prepare(const KernelProblem& problem, std::uint64_t seed, Team&) {
  return std::make_unique<OpenClPrepared<Case>>(problem, seed, make);
}

std::string format_option(DType dtype) {
  return dtype == DType::kFp32 ? "-DFP32" : dtype == DType::kBf16 ? "-DBF16" : "-DINT8";
}

void gemm(GemmCase& data, OpenClRun& run) {
  const std::int64_t element = bytes_per_element(data.dtype);
  run.build(kOpenClGemm, format_option(data.dtype), "gemm");
  run.input(data.a, data.m * data.k * element);
  run.input(data.b, data.k * data.n * element);
  run.output(data.c, data.m * data.n * (data.dtype == DType::kInt8 ? 4 : element));
  for (std::int64_t size : {data.m, data.n, data.k}) run.number(size);
  run.range((data.n + 63) / 64 * 16, (data.m + 63) / 64 * 16, 16, 16);
}

void decode(AttentionCase& data, OpenClRun& run) {
  const KvCache& cache = data.cache;
  const std::int64_t element = bytes_per_element(cache.dtype);
  const std::int64_t q_bytes = data.requests * data.heads * cache.head_dim * element;
  const std::int64_t kv_bytes = data.cache_blocks * cache.kv_heads * cache.block * cache.head_dim * element;
  run.build(kOpenClDecode,
            format_option(cache.dtype) + " -DGROUP=" + std::to_string(data.heads / cache.kv_heads) +
                " -DHEAD_DIM=" + std::to_string(cache.head_dim),
            "decode");
  run.input(data.q, q_bytes);
  run.input(cache.k, kv_bytes);
  run.input(cache.v, kv_bytes);
  run.input(data.blocks.data(), static_cast<std::int64_t>(data.blocks.size() * sizeof(std::int32_t)));
  run.output(data.out, q_bytes);
  for (std::int64_t number : {data.total, cache.kv_heads, cache.block, data.cache_blocks / data.requests})
    run.number(number);
  run.range(64 * data.requests * cache.kv_heads, 1, 64, 1);
}

void rows(RowCase& data, OpenClRun& run) {
  const std::int64_t element = bytes_per_element(data.dtype), bytes = data.task.rows * data.task.columns * element;
  const bool norm = data.operation == Operation::kRmsNorm;
  run.build(kOpenClRows, format_option(data.dtype), norm ? "rms_norm" : "softmax");
  run.input(data.task.in, bytes);
  if (norm) run.input(data.task.weight, data.task.columns * element);
  run.output(data.task.out, bytes);
  run.number(data.task.columns);
  if (norm) run.number(kRmsEpsilon);
  run.range(64 * data.task.rows, 1, 64, 1);
}

std::string why_not(const KernelProblem& problem) {
  for (const Dim& dim : problem.shape)
    if (dim.value > std::int64_t{1} << 30) return dim.name + " is greater than 2^30";
  return opencl_device_name().empty() ? "no OpenCL device (on a CPU: Debian package pocl-opencl-icd)" : "";
}

std::string why_not_decode(const KernelProblem& problem) {
  if (problem.dim("head_dim") > 256) return "head_dim is greater than 256";
  if (problem.dim("heads") / problem.dim("kv_heads") > 16) return "more than 16 query heads to a KV head";
  return why_not(problem);
}

constexpr Kernel kOpenClKernels[] = {
    {Operation::kGemm, "opencl", DeviceKind::kOpenCl, "tiles of 64 x 64 in local memory, 4 x 4 an item", why_not,
     prepare<GemmCase, gemm>},
    {Operation::kDecodeAttention, "opencl", DeviceKind::kOpenCl,
     "64 items for a KV head of a request, all its query heads", why_not_decode, prepare<AttentionCase, decode>},
    {Operation::kSoftmax, "opencl", DeviceKind::kOpenCl, "64 items a row", why_not, prepare<RowCase, rows>},
    {Operation::kRmsNorm, "opencl", DeviceKind::kOpenCl, "64 items a row", why_not, prepare<RowCase, rows>},
};

}  // namespace

std::span<const Kernel> opencl_kernels() { return kOpenClKernels; }
std::string_view why_no_opencl() { return ""; }

}  // namespace poolcast::kernels
