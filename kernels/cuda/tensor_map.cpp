// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor_map.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <stdexcept>

#include "kernels/cuda/checked.cuh"

namespace poolcast::cuda {
namespace {

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encode_entry() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult result{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &result));
  if (result != cudaDriverEntryPointSuccess || entry == nullptr) {
    throw std::runtime_error("CUDA: this driver has no cuTensorMapEncodeTiled (needs 12.0 or later)");
  }
  return reinterpret_cast<Encode>(entry);
}

CUtensorMapDataType type_of(ElementKind kind) {
  switch (kind) {
    case ElementKind::kBf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ElementKind::kInt8:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;  // bytes are bytes
    case ElementKind::kFp32:
      break;
  }
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

}  // namespace

TensorMap encode_tensor_map(const TensorShape& shape) {
  static const Encode encode = encode_entry();
  const std::vector<cuuint32_t> steps(shape.extents.size(), 1);
  const std::vector<cuuint64_t> extents(shape.extents.begin(), shape.extents.end());
  const std::vector<cuuint64_t> strides(shape.strides.begin(), shape.strides.end());
  CUtensorMap map;
  const CUresult result =
      encode(&map, type_of(shape.kind), static_cast<cuuint32_t>(extents.size()), const_cast<void*>(shape.base),
             extents.data(), strides.data(), shape.box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error("CUDA: cuTensorMapEncodeTiled refused a tensor (error " + std::to_string(result) + ")");
  }
  TensorMap words;
  std::memcpy(&words, &map, sizeof map);
  return words;
}

}  // namespace poolcast::cuda
