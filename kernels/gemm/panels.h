// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The product by packed panels, common to instruction sets with and without tiles: B is packed once into panels of
/// some columns, rows of A into blocks of some rows, and a function of the instruction set multiplies a block of rows
/// with a panel. All of it counts in words of 32 bits along k: one fp32, two bf16, four int8. No standard header here:
/// sources compiled for one instruction set include it.
namespace poolcast::kernels {

struct PanelTask {
  const std::uint32_t* a;  // packed rows
  std::int64_t row_words;  // words of a row in the packed rows
  const std::uint32_t* b;  // packed panel
  std::int64_t rows;       // of A and C
  std::int64_t words;      // along k, padded
  std::int32_t columns;    // of the panel that C has
  void* c;                 // first output; rows are row_elements apart
  std::int64_t row_elements;
  std::uint32_t* sums;        // room for rows (padded) x panel columns, for this task alone
  const std::int32_t* start;  // int8 on AVX-512: what the sums of each column start from; nullptr: zero
};

struct PanelFormat {
  std::int32_t panel_columns;
  std::int32_t row_block;      // rows are padded to this in the packed A and in `sums`
  std::int64_t word_multiple;  // words along k are padded to this
  std::int64_t task_rows;      // rows of one task: as many as let its packed part stay in the second cache

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
