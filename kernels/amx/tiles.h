// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The eight tile registers of AMX as plain functions, so that kernels over them (templates of the class) can also be
/// compiled over an emulation (tests/support/emulated_tiles.h has the same class). For sources compiled for AMX; local
/// to them, like gemm/avx512_panel.h. Written as assembly because the intrinsics of g++ 12 neither take the number of a
/// tile from a template nor tell the compiler which memory they read: the "memory" here is the barrier that they lack.
namespace poolcast::kernels {
namespace {

struct AmxTiles {
  /// Every tile gets 16 rows of 64 bytes.
  static void begin() {
    struct alignas(64) Configuration {
      std::uint8_t palette = 1, start_row = 0;
      std::uint8_t reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    const Configuration configuration;
    __asm__ volatile("ldtilecfg %0" : : "m"(configuration) : "memory");
  }

  static void end() { __asm__ volatile("tilerelease" : : : "memory"); }

  template <int kTile>
  static void zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }

  /// Row i comes from `from + i * stride` bytes.
  template <int kTile>
  static void load(const void* from, std::int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }

  template <int kTile>
  static void store(void* to, std::int64_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
  }

  /// kSum[i][j] (fp32) += kA[i][2w] kB[w][2j] + kA[i][2w+1] kB[w][2j+1] over the 16 words w; elements bf16.
  template <int kSum, int kA, int kB>
  static void multiply_bf16() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }

  /// kSum[i][j] (int32) += sum over e < 4 of kA[i][4w+e] kB[w][4j+e] over the 16 words w; elements int8.
  template <int kSum, int kA, int kB>
  static void multiply_int8() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
};

}  // namespace
}  // namespace poolcast::kernels
