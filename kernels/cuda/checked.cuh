// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace poolcast::cuda {

/// Throws std::runtime_error with the runtime's own words.
inline void check(cudaError_t status) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
  }
}

/// Lets a kernel take more than 48 KiB of shared memory. True, so that a static can hold it: once is enough.
template <class Kernel>
bool allow_shared(Kernel* kernel, int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return true;
}

}  // namespace poolcast::cuda
