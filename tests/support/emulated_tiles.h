// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/bf16.h"

/// What AmxTiles (kernels/amx/tiles.h) does, in plain C++, by the definitions of TILELOADD, TILESTORED, TDPBF16PS and
/// TDPBSSD in Intel's manual: tiles of 16 rows of 64 bytes.
struct EmulatedTiles {
  struct Tile {
    unsigned char bytes[16][64];
  };
  static inline thread_local Tile tile[8];
  static inline thread_local bool configured = false;

  /// Whatever was in the registers is gone.
  static void begin() {
    std::memset(tile, 0, sizeof tile);
    configured = true;
  }
  static void end() {
    std::memset(tile, 0xff, sizeof tile);
    configured = false;
  }

  template <int kTile>
  static void zero() {
    std::memset(&tile[kTile], 0, sizeof(Tile));
  }

  template <int kTile>
  static void load(const void* from, std::int64_t stride) {
    for (int row = 0; row < 16; ++row)
      std::memcpy(tile[kTile].bytes[row], static_cast<const char*>(from) + row * stride, 64);
  }

  template <int kTile>
  static void store(void* to, std::int64_t stride) {
    for (int row = 0; row < 16; ++row) std::memcpy(static_cast<char*>(to) + row * stride, tile[kTile].bytes[row], 64);
  }

  template <class T>
  static T element(const Tile& from, int row, int index) {
    T value;
    std::memcpy(&value, from.bytes[row] + index * static_cast<int>(sizeof(T)), sizeof(T));
    return value;
  }

  /// Even and odd elements are summed apart, fused and rounded to nearest, then added to the sum. (Numbers too small
  /// for the normal range, which the instruction takes as zero, are not looked at.)
  template <int kSum, int kA, int kB>
  static void multiply_bf16() {
    using poolcast::kernels::Bf16;
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 16; ++column) {
        float part[2] = {0, 0};
        for (int word = 0; word < 16; ++word)
          for (int e = 0; e < 2; ++e)
            part[e] = std::fma(to_float(element<Bf16>(tile[kA], row, 2 * word + e)),
                               to_float(element<Bf16>(tile[kB], word, 2 * column + e)), part[e]);
        const float sum = element<float>(tile[kSum], row, column) + (part[0] + part[1]);
        std::memcpy(tile[kSum].bytes[row] + 4 * column, &sum, 4);
      }
  }

  template <int kSum, int kA, int kB>
  static void multiply_int8() {
    Tile& sums = tile[kSum];
    for (int row = 0; row < 16; ++row)
      for (int word = 0; word < 16; ++word)
        for (int column = 0; column < 16; ++column) {
          std::int32_t sum = element<std::int32_t>(sums, row, column);
          for (int e = 0; e < 4; ++e)
            sum += element<std::int8_t>(tile[kA], row, 4 * word + e) *
                   element<std::int8_t>(tile[kB], word, 4 * column + e);
          std::memcpy(sums.bytes[row] + 4 * column, &sum, 4);
        }
  }
};
