// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/products.h"

#include <algorithm>

#include "kernels/cuda/blackwell.h"
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/device_run.h"
#include "kernels/cuda/hopper.h"
#include "kernels/cuda/portable.h"
#include "kernels/gemm/gemm_case.h"
#include "kernels/grouped_gemm/grouped_case.h"

namespace poolcast::cuda {
namespace {

using kernels::DeviceKind;
using kernels::DType;
using kernels::GemmCase;
using kernels::GroupedCase;
using kernels::Kernel;
using kernels::KernelProblem;
using kernels::Operation;

/// A product on the device, weights as given: [groups][k][n].
struct Operands {
  Product product;
  const void* weights_k_n = nullptr;
  std::vector<int> offsets;
  int longest_group = 0;
  RowGather gather;  // of a grouped product: puts the tokens' rows into the order of the experts, part of every run

  void bring_rows() const {
    if (gather.rows > 0) launch_gather(gather, nullptr);
  }
};

Operands operands_of(GemmCase& data, DeviceRun& run) {
  const auto element = static_cast<std::size_t>(kernels::bytes_per_element(data.dtype));
  const auto m = static_cast<std::size_t>(data.m), n = static_cast<std::size_t>(data.n),
             k = static_cast<std::size_t>(data.k);
  Operands o;
  o.offsets = {0, static_cast<int>(data.m)};
  o.longest_group = static_cast<int>(data.m);
  o.product.a = run.input(data.a, m * k * element);
  o.product.c = run.output(data.c, m * n * static_cast<std::size_t>(output_bytes(data.dtype)));
  o.product.offsets = run.input(o.offsets);
  o.product.rows = static_cast<int>(data.m);
  o.product.n = static_cast<int>(data.n);
  o.product.k = static_cast<int>(data.k);
  o.product.kind = kind_of(data.dtype);
  o.weights_k_n = run.input(data.b, k * n * element);
  return o;
}

Operands operands_of(GroupedCase& data, DeviceRun& run) {
  const auto element = static_cast<std::size_t>(kernels::bytes_per_element(data.dtype));
  const auto rows = static_cast<std::size_t>(data.routing.first_row.back());
  const auto n = static_cast<std::size_t>(data.n), k = static_cast<std::size_t>(data.k);
  Operands o;
  o.offsets.assign(data.routing.first_row.begin(), data.routing.first_row.end());
  for (std::size_t i = 0; i + 1 < o.offsets.size(); ++i) {
    o.longest_group = std::max(o.longest_group, o.offsets[i + 1] - o.offsets[i]);
  }
  o.gather.from = run.input(data.rows, static_cast<std::size_t>(data.tokens) * k * element);
  o.gather.to = run.scratch(rows * k * element);
  o.gather.row_of = run.input(std::vector<int>(data.routing.token_of.begin(), data.routing.token_of.end()));
  o.gather.rows = static_cast<int>(rows);
  o.gather.row_bytes = static_cast<long>(k * element);
  o.product.a = o.gather.to;
  o.product.c = run.output(data.c, rows * n * static_cast<std::size_t>(output_bytes(data.dtype)));
  o.product.offsets = run.input(o.offsets);
  o.product.groups = static_cast<int>(data.experts);
  o.product.rows = static_cast<int>(rows);
  o.product.n = static_cast<int>(data.n);
  o.product.k = static_cast<int>(data.k);
  o.product.kind = kind_of(data.dtype);
  o.weights_k_n = run.input(data.weights, static_cast<std::size_t>(data.experts) * k * n * element);
  return o;
}

/// Turns the constant weights to [groups][n][k], as weights of a linear layer lie in checkpoints.
void turn_weights(Operands& o, DType dtype, DeviceRun& run) {
  const int element = kernels::bytes_per_element(dtype);
  void* turned = run.scratch(static_cast<std::size_t>(o.product.groups) * static_cast<std::size_t>(o.product.n) *
                             static_cast<std::size_t>(o.product.k) * static_cast<std::size_t>(element));
  launch_transpose(o.weights_k_n, turned, o.product.k, o.product.n, o.product.groups, element, nullptr);
  o.product.weights = turned;
}

template <class Case>
void portable(Case& data, DeviceRun& run) {
  const Operands o = operands_of(data, run);
  const Product& p = o.product;
  const PortableProduct product{p.a, o.weights_k_n, p.c, p.offsets, p.groups, o.longest_group, p.n, p.k, p.kind};
  run.launch = [o, product] {
    o.bring_rows();
    launch_portable(product, nullptr);
  };
}

template <class Case>
void cublas(Case& data, DeviceRun& run) {
  Operands o = operands_of(data, run);
  turn_weights(o, data.dtype, run);
  run.launch = [o] {
    o.bring_rows();
    launch_cublas(o.product, o.offsets, nullptr);
  };
}

template <class Case, void (*launch)(const PlannedProduct&, Stream)>
void planned(Case& data, DeviceRun& run) {
  Operands o = operands_of(data, run);
  turn_weights(o, data.dtype, run);
  run.launch = [o, plan = plan_product(o.product, device().multiprocessors)] {
    o.bring_rows();
    launch(plan, nullptr);
  };
}

/// Rows of A and of W must be whole 16 bytes: the copy engine's rule for strides.
std::string why_not_rows(const KernelProblem& problem) {
  const std::int64_t elements = 16 / kernels::bytes_per_element(problem.dtype);
  return problem.dim("k") % elements == 0 ? "" : "k must be a multiple of " + std::to_string(elements);
}

std::string why_not_portable(const KernelProblem& problem) {
  const std::string why = why_not_here(problem);
  if (!why.empty()) return why;
  const bool grouped = problem.operation == Operation::kGroupedGemm;
  const char* rows = grouped ? "tokens" : "m";
  if (problem.dim(rows) > 65535 * 128LL) return std::string(rows) + " must be at most 8388480";
  return grouped && problem.dim("experts") > 65535 ? "experts must be at most 65535" : "";
}

std::string why_not_cublas(const KernelProblem& problem) {
  std::string why = why_not_here(problem);
  if (why.empty()) why = why_no_cublas();
  if (why.empty() && problem.dtype == DType::kInt8 && (problem.dim("n") % 4 != 0 || problem.dim("k") % 4 != 0)) {
    why = "int8 needs n and k to be multiples of 4";
  }
  return why;
}

std::string why_not_hopper(const KernelProblem& problem) {
  const std::string why = why_not_on(9, 0, problem);
  if (!why.empty()) return why;
  return problem.dtype == DType::kFp32 ? "bf16 and int8 only" : why_not_rows(problem);
}

std::string why_not_blackwell(const KernelProblem& problem) {
  const std::string why = why_not_on(10, 0, problem);
  if (!why.empty()) return why;
  return problem.dtype != DType::kBf16 ? "bf16 only" : why_not_rows(problem);
}

constexpr Kernel kProductKernels[] = {
    {Operation::kGemm, "cuda_portable", DeviceKind::kCuda,
     "SIMT, 128 x 128 tiles in shared memory, 8 x 8 sums a thread", why_not_portable,
     prepare<GemmCase, portable<GemmCase>>},
    {Operation::kGemm, "cublas", DeviceKind::kCuda, "cublasGemmEx", why_not_cublas,
     prepare<GemmCase, cublas<GemmCase>>},
    {Operation::kGemm, "cuda_hopper", DeviceKind::kCuda,
     "sm_90a: TMA, mbarrier ring, wgmma 64 x 256 or 64 x 128, a producer and two consumer warpgroups", why_not_hopper,
     prepare<GemmCase, planned<GemmCase, launch_hopper>>},
    {Operation::kGemm, "cuda_blackwell", DeviceKind::kCuda,
     "sm_100a: TMA, tcgen05.mma 128 x 256 or 128 x 128, two accumulators in tensor memory", why_not_blackwell,
     prepare<GemmCase, planned<GemmCase, launch_blackwell>>},
    {Operation::kGroupedGemm, "cuda_portable", DeviceKind::kCuda, "rows gathered by expert, then SIMT tiles",
     why_not_portable, prepare<GroupedCase, portable<GroupedCase>>},
    {Operation::kGroupedGemm, "cublas", DeviceKind::kCuda, "rows gathered by expert, then cublasGemmEx for each expert",
     why_not_cublas, prepare<GroupedCase, cublas<GroupedCase>>},
    {Operation::kGroupedGemm, "cuda_hopper", DeviceKind::kCuda,
     "sm_90a: rows gathered by expert, then one persistent launch over the tiles of all experts (TMA, wgmma)",
     why_not_hopper, prepare<GroupedCase, planned<GroupedCase, launch_hopper>>},
    {Operation::kGroupedGemm, "cuda_blackwell", DeviceKind::kCuda,
     "sm_100a: rows gathered by expert, then one persistent launch over the tiles of all experts (TMA, tcgen05)",
     why_not_blackwell, prepare<GroupedCase, planned<GroupedCase, launch_blackwell>>},
};

}  // namespace

std::span<const Kernel> product_kernels() { return kProductKernels; }

}  // namespace poolcast::cuda
