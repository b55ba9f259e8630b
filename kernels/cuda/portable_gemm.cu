// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/portable.h"
#include "kernels/cuda/tiles.h"

// A block of 256 threads computes 128 x 128 outputs; tiles of 16 along k pass through shared memory, and each thread
// holds an 8 x 8 square of sums in registers.
namespace poolcast::cuda {
namespace {

constexpr int kTile = 128;
constexpr int kTileK = 16;
constexpr int kSquare = 8;
constexpr int kThreads = 256;

template <class Element>
__global__ void __launch_bounds__(kThreads) product_kernel(const PortableProduct p) {
  using Sum = typename Sums<Element>::Sum;
  using Output = typename Sums<Element>::Output;
  __shared__ Sum a_tile[kTileK][kTile + 4];  // transposed; padded against bank conflicts of the stores
  __shared__ Sum b_tile[kTileK][kTile];
  const int first_row = p.offsets[blockIdx.z] + blockIdx.y * kTile, end = p.offsets[blockIdx.z + 1];
  const int first_column = blockIdx.x * kTile;
  if (first_row >= end) {
    return;
  }
  const auto* a = static_cast<const Element*>(p.a);
  const auto* b = static_cast<const Element*>(p.b) + static_cast<long>(blockIdx.z) * p.k * p.n;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  Sum sums[kSquare][kSquare] = {};
  for (int k = 0; k < p.k; k += kTileK) {
#pragma unroll
    for (int i = 0; i < kTile * kTileK / kThreads; ++i) {
      const int at = threadIdx.x + i * kThreads;
      const int row = at / kTileK, a_k = at % kTileK;
      const bool a_inside = first_row + row < end && k + a_k < p.k;
      a_tile[a_k][row] = a_inside ? factor(a[static_cast<long>(first_row + row) * p.k + k + a_k]) : Sum{0};
      const int b_k = at / kTile, column = at % kTile;
      const bool b_inside = k + b_k < p.k && first_column + column < p.n;
      b_tile[b_k][column] = b_inside ? factor(b[static_cast<long>(k + b_k) * p.n + first_column + column]) : Sum{0};
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < kTileK; ++step) {
      Sum left[kSquare], right[kSquare];
#pragma unroll
      for (int i = 0; i < kSquare; ++i) {
        left[i] = a_tile[step][y * kSquare + i];
        right[i] = b_tile[step][x + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < kSquare; ++i) {
#pragma unroll
        for (int j = 0; j < kSquare; ++j) {
          sums[i][j] += left[i] * right[j];
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kSquare; ++i) {
    const int row = first_row + y * kSquare + i;
#pragma unroll
    for (int j = 0; j < kSquare; ++j) {
      const int column = first_column + x + 16 * j;
      if (row < end && column < p.n) {
        put(static_cast<Output*>(p.c)[static_cast<long>(row) * p.n + column], sums[i][j]);
      }
    }
  }
}

}  // namespace

void launch_portable(const PortableProduct& p, Stream stream) {
  const dim3 grid(ceil_div(p.n, kTile), ceil_div(p.longest_group, kTile), p.groups);
  if (p.kind == ElementKind::kInt8) {
    product_kernel<std::int8_t><<<grid, kThreads, 0, stream>>>(p);
  } else {
    with_float_element(p.kind, [&](auto one) { product_kernel<decltype(one)><<<grid, kThreads, 0, stream>>>(p); });
  }
  check(cudaGetLastError());
}

}  // namespace poolcast::cuda
