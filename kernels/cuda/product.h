// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/tensor_map.h"

namespace poolcast::cuda {

/// C[rows, n] = A[rows, k] W[g][n, k]^T, where row r belongs to the group g with offsets[g] <= r < offsets[g + 1].
/// One group is a plain GEMM. bf16 gives bf16 (sums in fp32), int8 gives int32. All pointers are device addresses.
struct Product {
  const void* a = nullptr;
  const void* weights = nullptr;
  void* c = nullptr;
  const int* offsets = nullptr;  ///< groups + 1 numbers, ascending, first 0, last `rows`
  int groups = 1;
  int rows = 0;
  int n = 0;
  int k = 0;  ///< rows of k fill whole 16 bytes: k mod 8 = 0 (bf16), k mod 16 = 0 (int8)
  ElementKind kind = ElementKind::kBf16;
};

/// A product with its tensor maps and grid, ready to be launched again and again.
struct PlannedProduct {
  Product product;
  TensorMap a_map, w_map;
  bool wide = false;  ///< tiles of 128 x 256 instead of 128 x 128
  int blocks = 0;
};

/// For the tile sizes that both architectures use. Throws std::runtime_error where the driver refuses a tensor map.
PlannedProduct plan_product(const Product& product, int multiprocessors);

}  // namespace poolcast::cuda
