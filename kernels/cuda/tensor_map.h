// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Descriptions of tensors for the copy engine of sm_90 and later (CUtensorMap of the driver), and the opaque names of
/// CUDA's types, so that no header of this room needs the toolkit.
struct CUstream_st;

namespace poolcast::cuda {

using Stream = CUstream_st*;

/// The 128 bytes of a CUtensorMap; passed to kernels by value.
struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

enum class ElementKind { kBf16, kInt8, kFp32 };

/// A tensor as the copy engine sees it, axes from the contiguous one outwards.
struct TensorShape {
  const void* base = nullptr;  ///< device address, a multiple of 16
  ElementKind kind = ElementKind::kBf16;
  std::vector<std::uint64_t> extents;  ///< elements per axis
  std::vector<std::uint64_t> strides;  ///< bytes, of the second axis and on; multiples of 16
  std::vector<std::uint32_t> box;      ///< elements per axis that one copy moves; the first spans 128 bytes
};

/// Encodes for the 128-byte swizzle, zeros outside the tensor. Throws std::runtime_error with the driver's reason; the
/// entry point is asked from the driver at run time, so that linking needs none.
TensorMap encode_tensor_map(const TensorShape& shape);

}  // namespace poolcast::cuda
