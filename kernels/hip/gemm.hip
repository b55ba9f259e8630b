// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>

#include "kernels/hip/cdna.h"
#include "kernels/hip/device.h"
#include "kernels/hip/elements.hiph"
#include "kernels/hip/mfma.h"

// A block of four waves computes 128 x 128 outputs, a wave 64 x 64 of them as 2 x 2 matrices of 32 x 32. Tiles of 32
// along k pass through LDS; the next tile is on its way into registers while this one is multiplied.
namespace poolcast::hip {
namespace {

constexpr int kTile = 128;
constexpr int kTileK = 32;
constexpr int kPitch = kTileK + 4;  // elements of a row in LDS: 8-byte reads of 32 rows meet few bank conflicts
constexpr int kThreads = 256;
constexpr int kPieces = kTile * kTileK / 8 / kThreads;  // of 8 elements, that a thread brings of A, and of W

struct Piece {
  uint4 bits;
};

/// Piece `i` of this thread: 8 elements of row first_row + ... along k, zeros outside.
__device__ inline Piece bring(const std::uint16_t* matrix, int first_row, int rows, int k, int columns, int i) {
  const int at = static_cast<int>(threadIdx.x) + i * kThreads;
  const int row = first_row + at / (kTileK / 8), column = k + at % (kTileK / 8) * 8;
  if (row >= rows || column >= columns) {
    return {make_uint4(0, 0, 0, 0)};
  }
  return {*reinterpret_cast<const uint4*>(matrix + static_cast<long>(row) * columns + column)};
}

__device__ inline void lay(std::uint16_t* tile, const Piece& piece, int i) {
  const int at = static_cast<int>(threadIdx.x) + i * kThreads;
  auto* to = reinterpret_cast<uint2*>(tile + at / (kTileK / 8) * kPitch + at % (kTileK / 8) * 8);
  to[0] = make_uint2(piece.bits.x, piece.bits.y);
  to[1] = make_uint2(piece.bits.z, piece.bits.w);
}

__global__ void __launch_bounds__(kThreads) gemm_kernel(const Gemm g) {
  __shared__ __align__(16) std::uint16_t a_tile[kTile * kPitch], w_tile[kTile * kPitch];
  const int lane = static_cast<int>(threadIdx.x) % kWave, wave = static_cast<int>(threadIdx.x) / kWave;
  const int first_row = static_cast<int>(blockIdx.y) * kTile, first_column = static_cast<int>(blockIdx.x) * kTile;
  const int wave_row = wave / 2 * 64, wave_column = wave % 2 * 64;
  Sums16 sums[2][2] = {};
  Piece a_next[kPieces], w_next[kPieces];
  for (int i = 0; i < kPieces; ++i) {
    a_next[i] = bring(g.a, first_row, g.m, 0, g.k, i);
    w_next[i] = bring(g.weights, first_column, g.n, 0, g.k, i);
  }
  for (int k = 0; k < g.k; k += kTileK) {
    __syncthreads();  // the tile before has been read
    for (int i = 0; i < kPieces; ++i) {
      lay(a_tile, a_next[i], i);
      lay(w_tile, w_next[i], i);
    }
    __syncthreads();
    for (int i = 0; i < kPieces; ++i) {
      a_next[i] = bring(g.a, first_row, g.m, k + kTileK, g.k, i);
      w_next[i] = bring(g.weights, first_column, g.n, k + kTileK, g.k, i);
    }
#pragma unroll
    for (int step = 0; step < kTileK; step += 8) {
      Four a[2], w[2];
      for (int i = 0; i < 2; ++i) {
        const int inside = operand_row(lane, 32) + 32 * i, from = step + operand_k(lane, 32);
        a[i] = *reinterpret_cast<const Four*>(a_tile + (wave_row + inside) * kPitch + from);
        w[i] = *reinterpret_cast<const Four*>(w_tile + (wave_column + inside) * kPitch + from);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          sums[i][j] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a[i], w[j], sums[i][j], 0, 0, 0);
        }
      }
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int e = 0; e < 16; ++e) {
        const SumElement at = sum_element(lane, e, 32);
        const int row = first_row + wave_row + 32 * i + at.row,
                  column = first_column + wave_column + 32 * j + at.column;
        if (row < g.m && column < g.n) {
          g.c[static_cast<long>(row) * g.n + column] = to_bf16(sums[i][j][e]);
        }
      }
    }
  }
}

}  // namespace

void launch(const Gemm& g) {
  const auto tiles = [](int extent) { return static_cast<unsigned>((extent + kTile - 1) / kTile); };
  hipLaunchKernelGGL(gemm_kernel, dim3(tiles(g.n), tiles(g.m)), dim3(kThreads), 0, nullptr, g);
  check_launch();
}

}  // namespace poolcast::hip
