// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cublas.h"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstddef>
#include <stdexcept>

namespace poolcast::cuda {
namespace {

constexpr const char* kLibrary = "libcublas.so.13";

using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);  // cublasGemmEx

struct Library {
  std::string why_not;
  cublasHandle_t handle = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  Gemm gemm = nullptr;
};

Library load() {
  Library library;
  void* file = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) {
    library.why_not = std::string("no cuBLAS: ") + dlerror();
    return library;
  }
  const auto create = reinterpret_cast<decltype(&cublasCreate_v2)>(dlsym(file, "cublasCreate_v2"));
  library.set_stream = reinterpret_cast<decltype(&cublasSetStream_v2)>(dlsym(file, "cublasSetStream_v2"));
  library.gemm = reinterpret_cast<Gemm>(dlsym(file, "cublasGemmEx"));
  if (create == nullptr || library.set_stream == nullptr || library.gemm == nullptr) {
    library.why_not = std::string("no cuBLAS: ") + kLibrary + " lacks an entry point";
  } else if (const cublasStatus_t status = create(&library.handle); status != CUBLAS_STATUS_SUCCESS) {
    library.why_not = "no cuBLAS: cublasCreate failed (status " + std::to_string(status) + ")";
  }
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

struct Types {
  cudaDataType_t in, out;
  cublasComputeType_t compute;
  std::size_t in_bytes, out_bytes;
};

Types types_of(ElementKind kind) {
  switch (kind) {
    case ElementKind::kBf16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 2};
    case ElementKind::kInt8:
      return {CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 1, 4};
    case ElementKind::kFp32:
      break;
  }
  return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 4, 4};
}

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cuBLAS: status " + std::to_string(status));
}

}  // namespace

const std::string& why_no_cublas() { return library().why_not; }

// cuBLAS counts in columns: our C[rows, n] is its C[n, rows], our W[n, k] its W[k, n], to be transposed.
void launch_cublas(const Product& p, const std::vector<int>& offsets, Stream stream) {
  const Types types = types_of(p.kind);
  const float one = 1, zero = 0;
  const int int_one = 1, int_zero = 0;
  const bool integers = p.kind == ElementKind::kInt8;
  const void* alpha = integers ? static_cast<const void*>(&int_one) : &one;
  const void* beta = integers ? static_cast<const void*>(&int_zero) : &zero;
  check(library().set_stream(library().handle, stream));
  for (int group = 0; group < p.groups; ++group) {
    const auto first = static_cast<std::size_t>(offsets[group]);
    const int rows = offsets[group + 1] - offsets[group];
    if (rows == 0) continue;
    const auto k = static_cast<std::size_t>(p.k), n = static_cast<std::size_t>(p.n);
    const auto* weights = static_cast<const char*>(p.weights) + group * n * k * types.in_bytes;
    const auto* a = static_cast<const char*>(p.a) + first * k * types.in_bytes;
    auto* c = static_cast<char*>(p.c) + first * n * types.out_bytes;
    check(library().gemm(library().handle, CUBLAS_OP_T, CUBLAS_OP_N, p.n, rows, p.k, alpha, weights, types.in, p.k, a,
                         types.in, p.k, beta, c, types.out, p.n, types.compute, CUBLAS_GEMM_DEFAULT));
  }
}

}  // namespace poolcast::cuda
