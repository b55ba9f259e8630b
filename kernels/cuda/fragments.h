// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Which lane holds what of a 16 x 8 x 16 matrix instruction (mma.sync, PTX ISA "Matrix fragments for mma.m16n8k16 with
/// floating point type"), and which rows a lane names to ldmatrix in decode attention. Plain C++, tested on any
/// machine.
namespace poolcast::cuda {

struct Element {
  int row = 0;
  int column = 0;
};

/// Element i (0 to 3) of the accumulator, 16 x 8. wgmma's is the same, with more columns: i / 4 counts eights of
/// columns.
constexpr Element accumulator_element(int lane, int i) {
  return {lane / 4 + i % 4 / 2 * 8, i / 4 * 8 + 2 * (lane % 4) + i % 2};
}

/// First of the two elements in register i (0 to 3) of the left operand, 16 x 16.
constexpr Element left_element(int lane, int i) { return {lane / 4 + i % 2 * 8, 2 * (lane % 4) + i / 2 * 8}; }

/// A tile of token rows in shared memory is kept in pieces of 16 bytes (8 elements); the exclusive or puts the same
/// piece of eight following rows into eight different groups of banks.
constexpr std::uint32_t piece_offset(int head_dim, int row, int piece) {
  return static_cast<std::uint32_t>(row * head_dim * 2 + ((piece ^ (row & 7)) << 4));
}

struct Piece {
  int row = 0;
  int piece = 0;
};

/// Row that a lane names when 16 keys (rows) x 16 elements of the head dimension, step `step`, are loaded as the right
/// operands of two instructions: registers 0 and 1 are those of keys 0 to 7, registers 2 and 3 of keys 8 to 15.
constexpr Piece key_piece(int lane, int step) { return {lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2}; }

/// The same for 16 values (rows, now summed over) x 16 elements of the head dimension, pair `pair` of column eights,
/// loaded with transposition.
constexpr Piece value_piece(int lane, int pair) { return {lane % 8 + lane / 8 % 2 * 8, pair * 2 + lane / 16}; }

}  // namespace poolcast::cuda
