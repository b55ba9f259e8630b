// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "kernels/cuda/descriptors.h"
#include "kernels/cuda/fragments.h"

// What the CUDA kernels tell the hardware about shared memory, against a model of how the hardware reads it.
namespace {

using namespace poolcast::cuda;

std::uint64_t field(std::uint64_t word, int first, int bits) {
  return word >> first & ((std::uint64_t{1} << bits) - 1);
}

/// Byte that the tensor core reads: offsets of the descriptor added up, then the 128-byte swizzle of the address (bits
/// 4 to 6 exclusive-or bits 7 to 9).
std::uint32_t read_at(std::uint64_t descriptor, std::uint32_t leading, std::uint32_t strides, std::uint32_t inside) {
  const auto start = static_cast<std::uint32_t>(field(descriptor, 0, 14) << 4);
  const auto leading_bytes = static_cast<std::uint32_t>(field(descriptor, 16, 14) << 4);
  const auto stride_bytes = static_cast<std::uint32_t>(field(descriptor, 32, 14) << 4);
  const std::uint32_t address = start + leading * leading_bytes + strides * stride_bytes + inside;
  return address ^ ((address >> 7 & 7u) << 4);
}

TEST_CASE("the 128-byte swizzle permutes an atom and spreads a column of it over all banks") {
  std::set<std::uint32_t> seen;
  for (std::uint32_t row = 0; row < 8; ++row) {
    std::set<std::uint32_t> groups;
    for (std::uint32_t byte = 0; byte < 128; ++byte) seen.insert(swizzle128(row, byte));
    for (std::uint32_t other = 0; other < 8; ++other) groups.insert(swizzle128(other, row * 16) % 128 / 16);
    CHECK(groups.size() == 8);
  }
  CHECK(seen.size() == 1024);
  CHECK(*seen.rbegin() == 1023);
  CHECK(swizzle128(1, 0) == 128 + 16);
  CHECK(swizzle128(3, 5 * 16 + 2) == 3 * 128 + 6 * 16 + 2);
}

TEST_CASE("descriptors have the words of the PTX ISA") {
  CHECK(wgmma_descriptor_k_major(0x400) == 0x4000004000010040u);
  CHECK(wgmma_descriptor_n_major(0x400, 16384) == 0x4000004004000040u);
  CHECK(tcgen05_descriptor_k_major(0x400) == 0x4000404000010040u);
  CHECK(wgmma_descriptor_k_major(0x400) + 2 == wgmma_descriptor_k_major(0x400 + 32));
  CHECK(tcgen05_instruction_bf16(128, 256) == 0x08400490u);
  CHECK(tcgen05_instruction_bf16(128, 128) == 0x08200490u);
  CHECK(tmem_address(0x100, 96, 64) == 0x00600140u);
}

TEST_CASE("a descriptor with K contiguous reads the element that the copy engine put there") {
  const std::uint32_t tile = 5 * 1024;
  for (std::uint32_t first_row : {0u, 64u}) {  // second: the second warpgroup's half of A
    for (std::uint32_t step = 0; step < 4; ++step) {
      const std::uint64_t wgmma = wgmma_descriptor_k_major(tile + first_row * 128) + 2 * step;
      const std::uint64_t tcgen05 = tcgen05_descriptor_k_major(tile + first_row * 128) + 2 * step;
      for (std::uint32_t row = 0; row < 64; ++row) {
        for (std::uint32_t byte = 0; byte < 32; ++byte) {
          const std::uint32_t put = tile + swizzle128(first_row + row, step * 32 + byte);
          REQUIRE(read_at(wgmma, 0, row / 8, row % 8 * 128 + byte) == put);
          REQUIRE(read_at(tcgen05, 0, row / 8, row % 8 * 128 + byte) == put);
        }
      }
    }
  }
}

TEST_CASE("a descriptor with N contiguous reads V of sixteen tokens, both halves of the head dimension") {
  const std::uint32_t tile = 7 * 1024, half = 128 * 128;
  for (std::uint32_t step = 0; step < 8; ++step) {
    const std::uint64_t values = wgmma_descriptor_n_major(tile, half) + step * (16 * 128 >> 4);
    for (std::uint32_t n = 0; n < 128; ++n) {
      for (std::uint32_t token = 0; token < 16; ++token) {
        const std::uint32_t put = tile + n / 64 * half + swizzle128(step * 16 + token, n % 64 * 2);
        REQUIRE(read_at(values, n / 64, token / 8, token % 8 * 128 + n % 64 * 2) == put);
      }
    }
  }
}

TEST_CASE("accumulator registers of a warp hold each element of 16 rows once") {
  std::set<int> seen;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 128; ++i) {
      const Element at = accumulator_element(lane, i);
      CHECK(at.column < 256);
      seen.insert(at.row * 256 + at.column);
    }
  }
  CHECK(seen.size() == 16 * 256);
}

TEST_CASE("bf16 pairs of a score accumulator are the left operand of the next instruction") {
  for (int lane = 0; lane < 32; ++lane) {
    for (int pair = 0; pair < 32; ++pair) {  // as pack_weights: step pair / 4, register pair % 4
      const Element held = accumulator_element(lane, 2 * pair), wanted = left_element(lane, pair % 4);
      CHECK(held.row == wanted.row);
      CHECK(held.column == pair / 4 * 16 + wanted.column);
    }
  }
}

constexpr int kHeadDim = 64;

/// A 16 x kHeadDim tile as decode attention keeps it; elements are numbered row * kHeadDim + column.
std::vector<int> tile_of_tokens() {
  std::vector<int> tile(16 * kHeadDim);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < kHeadDim; ++column)
      tile[piece_offset(kHeadDim, row, column / 8) / 2 + static_cast<unsigned>(column % 8)] = row * kHeadDim + column;
  return tile;
}

/// ldmatrix.x4: element `second` of register `matrix` of `lane`, whose rows the lanes name through `piece_of`.
template <class PieceOf>
int loaded(const std::vector<int>& tile, PieceOf piece_of, int lane, int matrix, int second, bool transposed) {
  const int row = transposed ? 2 * (lane % 4) + second : lane / 4;
  const int column = transposed ? lane / 4 : 2 * (lane % 4) + second;
  const Piece piece = piece_of(matrix * 8 + row);
  return tile[piece_offset(kHeadDim, piece.row, piece.piece) / 2 + static_cast<unsigned>(column)];
}

TEST_CASE("the same piece of eight following token rows lies in eight different groups of banks") {
  for (int head_dim : {64, 128}) {
    for (int piece = 0; piece < head_dim / 8; ++piece) {
      std::set<std::uint32_t> groups;
      for (int row = 8; row < 16; ++row) groups.insert(piece_offset(head_dim, row, piece) % 128 / 16);
      CHECK(groups.size() == 8);
    }
  }
}

TEST_CASE("decode loads keys and values as the right operands that the instruction expects") {
  const std::vector<int> tile = tile_of_tokens();
  for (int step = 0; step < kHeadDim / 16; ++step) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 8; ++i) {
        const int matrix = i / 2, second = i % 2;
        // The right operand, 16 x 8: register 0 has rows 2 (lane mod 4) and the next, register 1 those 8 below; the
        // column is lane / 4.
        const int summed = 2 * (lane % 4) + second + matrix % 2 * 8, column = lane / 4 + matrix / 2 * 8;
        const auto keys = [&](int of) { return key_piece(of, step); };
        REQUIRE(loaded(tile, keys, lane, matrix, second, false) == column * kHeadDim + step * 16 + summed);
        const auto values = [&](int of) { return value_piece(of, step); };
        REQUIRE(loaded(tile, values, lane, matrix, second, true) == summed * kHeadDim + step * 16 + column);
      }
    }
  }
}

}  // namespace
