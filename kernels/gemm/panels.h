// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The product by packed panels, common to instruction sets with and without tiles: B is packed once into panels of
/// some columns, rows of A into blocks of some rows, and a function of the instruction set multiplies a block of rows
/// with a panel. All of it counts in words of 32 bits along k: one fp32, two bf16, four int8. No standard header here:
/// sources compiled for one instruction set include it.
namespace poolcast::kernels {

/// Rows of A times some panels of B.
struct PanelTask {
  const std::uint32_t* a;  // packed rows
  std::int64_t row_words;  // words of a row in the packed rows
  std::int64_t rows;       // of A and C
  const std::uint32_t* b;  // packed panels
  std::int64_t words;      // along k, padded
  std::int64_t panels;     // one after the other, each of words x panel columns
  std::int64_t columns;    // that C has in these panels
  void* c;                 // first output; rows are row_elements apart
  std::int64_t row_elements;
  std::uint32_t* sums;        // room for panels x rows (padded) x panel columns, for this task alone
  const std::int32_t* start;  // int8 on AVX-512: what the sums of each column start from; nullptr: zero
};

struct PanelFormat {
  std::int32_t panel_columns;
  std::int32_t row_block;      // rows are padded to this in the packed A and in `sums`
  std::int64_t word_multiple;  // words along k are padded to this
  std::int64_t task_rows;    // rows and panels of one task: what a pass over some words reads of them, and their sums,
  std::int64_t task_panels;  // stay in the second cache

  /// Packs row `row` of the whole A, `bytes` long, into the packed A; what lies between it and `row_words` becomes
  /// zero.
  void (*pack_row)(const void* from, std::int64_t bytes, std::int64_t row, std::int64_t row_words,
                   std::uint32_t* packed);
  /// Where the word (word, column) of a panel lies in it.
  std::int64_t (*panel_index)(std::int64_t word, std::int64_t column);
  void (*multiply)(const PanelTask& task);

  bool unsigned_rows;  // int8: A is packed with 128 added, which `start` takes away again
};

}  // namespace poolcast::kernels
