// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which lane of a wave of 64 holds what of AMD's matrix instructions (CDNA 2 ISA guide, "Matrix fused-multiply-add").
/// With 32 lanes nothing here holds: a wave is 64 wide on gfx90a and gfx940. Plain C++, tested on any machine.
///
/// v_mfma_f32_32x32x8_bf16 (1k): each lane gives four bf16 of A and four of B and holds sixteen sums; 16x16x16: four,
/// four and four. Operands: lane l gives row (of A) or column (of B) l mod size, and the four elements of k that begin
/// at 4 (l / size).
namespace poolcast::hip {

constexpr int kWave = 64;

constexpr int operand_row(int lane, int size) { return lane % size; }
constexpr int operand_k(int lane, int size) { return 4 * (lane / size); }

struct SumElement {
  int row = 0;
  int column = 0;
};

/// Sum i of a lane: 0 to 15 of 32x32, 0 to 3 of 16x16.
constexpr SumElement sum_element(int lane, int i, int size) {
  return {i / 4 * 8 + 4 * (lane / size) + i % 4, lane % size};
}

/// In decode the head dimension is summed over in an order of the kernel's own, so that each lane reads 16 bytes at
/// once: of step `step` of 16, lane l takes the four elements that begin here. Q and K use the same order.
constexpr int decode_k(int lane, int step) { return step / 2 * 32 + 8 * (lane / 16) + step % 2 * 4; }

/// Rows of the weighted values are permuted as well: row i of tile t is element i * (head_dim / 16) + t, so that a
/// lane's elements of all tiles lie together.
constexpr int decode_element(int row, int tile, int head_dim) { return row * (head_dim / 16) + tile; }

}  // namespace poolcast::hip
