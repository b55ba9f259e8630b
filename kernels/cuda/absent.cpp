// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/kernels.h"

// In place of everything else here where CUDA is not built.
namespace poolcast::cuda {

std::span<const kernels::Kernel> cuda_kernels() { return {}; }
kernels::DeviceFacts facts(bool) { return {}; }

std::span<const kernels::AbsentPart> absent_cuda() {
  static constexpr kernels::AbsentPart kParts[] = {
      {"cuda_portable", "built without CUDA: " POOLCAST_CUDA_MISSING},
      {"cublas", "built without CUDA: " POOLCAST_CUDA_MISSING},
      {"cuda_hopper", "built without CUDA: " POOLCAST_CUDA_MISSING},
      {"cuda_blackwell", "built without CUDA: " POOLCAST_CUDA_MISSING},
  };
  return kParts;
}

}  // namespace poolcast::cuda
