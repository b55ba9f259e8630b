// SPDX-License-Identifier: Apache-2.0
#include "kernels/registry.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/attention/attention.h"
#include "kernels/cuda/kernels.h"
#include "kernels/gemm/gemm.h"
#include "kernels/grouped_gemm/grouped_gemm.h"
#include "kernels/hip/kernels.h"
#include "kernels/moves/kv_store.h"
#include "kernels/moves/moves.h"
#include "kernels/onednn/onednn.h"
#include "kernels/opencl/opencl.h"
#include "kernels/rows/rows.h"

namespace poolcast::kernels {
namespace {

/// A vendor's library comes before kernels that were written for an instruction set; tables of devices keep their
/// order.
std::size_t rank(const Kernel& kernel) {
  constexpr std::array<std::string_view, 6> kFromTheSimplest = {"reference", "portable_naive", "portable",
                                                                "onednn",    "avx512",         "amx"};
  return static_cast<std::size_t>(std::find(kFromTheSimplest.begin(), kFromTheSimplest.end(), kernel.implementation) -
                                  kFromTheSimplest.begin());
}

std::vector<Kernel> gathered() {
  std::vector<Kernel> all;
  const auto add = [&](std::span<const Kernel> some) { all.insert(all.end(), some.begin(), some.end()); };
  for (const auto table : {gemm_kernels, grouped_gemm_kernels, attention_kernels, row_kernels, kv_store_kernels,
                           move_kernels, onednn_kernels, opencl_kernels, cuda::cuda_kernels, hip::hip_kernels})
    add(table());
  std::stable_sort(all.begin(), all.end(), [](const Kernel& a, const Kernel& b) {
    return std::pair(a.operation, rank(a)) < std::pair(b.operation, rank(b));
  });
  return all;
}

}  // namespace

std::span<const Kernel> all_kernels() {
  static const std::vector<Kernel> all = gathered();
  return all;
}

const Kernel* find_kernel(Operation operation, std::string_view implementation) {
  for (const Kernel& kernel : all_kernels())
    if (kernel.operation == operation && kernel.implementation == implementation) return &kernel;
  return nullptr;
}

std::vector<const Kernel*> kernels_for(const KernelProblem& problem) {
  std::vector<const Kernel*> able;
  for (const Kernel& kernel : all_kernels())
    if (kernel.operation == problem.operation && kernel.why_not(problem).empty()) able.push_back(&kernel);
  return able;
}

DeviceFacts device_facts(DeviceKind kind, bool peaks) {
  if (kind == DeviceKind::kCuda) return cuda::facts(peaks);
  return kind == DeviceKind::kHip ? hip::facts() : DeviceFacts{};
}

std::string_view compiler_flags() { return POOLCAST_KERNEL_FLAGS; }

std::span<const AbsentPart> absent_parts() {
  static const std::vector<AbsentPart> absent = [] {
    std::vector<AbsentPart> parts = {{"onednn", why_no_onednn()}, {"opencl", why_no_opencl()}};
    for (const auto table : {cuda::absent_cuda, hip::absent_hip})
      parts.insert(parts.end(), table().begin(), table().end());
    parts.erase(std::remove_if(parts.begin(), parts.end(), [](const AbsentPart& part) { return part.reason.empty(); }),
                parts.end());
    return parts;
  }();
  return absent;
}

}  // namespace poolcast::kernels
