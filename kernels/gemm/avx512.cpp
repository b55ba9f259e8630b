// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/avx512.h"

#include <cstring>

#include "kernels/gemm/avx512_panels.h"
#include "kernels/gemm/panel_weight.h"

namespace poolcast::kernels {
namespace {

constexpr std::int32_t kColumns = 64, kTaskRows = 192, kTaskPanels = 4;

void copy_row(const void* from, std::int64_t bytes, std::int64_t row, std::int64_t row_words, std::uint32_t* packed) {
  auto* to = reinterpret_cast<char*>(packed + row * row_words);
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  std::memset(to + bytes, 0, static_cast<std::size_t>(4 * row_words - bytes));
}

/// Signed to unsigned: 128 more, which is the highest bit turned.
void copy_row_unsigned(const void* from, std::int64_t bytes, std::int64_t row, std::int64_t row_words,
                       std::uint32_t* packed) {
  copy_row(from, bytes, row, row_words, packed);
  std::uint32_t* to = packed + row * row_words;
  for (std::int64_t word = 0; word < row_words; ++word) to[word] ^= 0x80808080u;
}

std::int64_t word_after_word(std::int64_t word, std::int64_t column) { return word * kColumns + column; }

}  // namespace

PanelFormat avx512_panels(DType dtype) {
  PanelFormat format{};
  format.panel_columns = kColumns;
  format.row_block = 6;
  format.word_multiple = 1;
  format.task_rows = kTaskRows;
  format.task_panels = kTaskPanels;
  format.pack_row = dtype == DType::kInt8 ? copy_row_unsigned : copy_row;
  format.panel_index = word_after_word;
  format.multiply = dtype == DType::kFp32   ? avx512_fp32_panel
                    : dtype == DType::kBf16 ? avx512_bf16_panel
                                            : avx512_int8_panel;
  format.unsigned_rows = dtype == DType::kInt8;
  return format;
}

std::unique_ptr<Weight> avx512_weight(const WeightShape& shape, const void* b, Memory& memory) {
  return std::make_unique<PanelWeight>(shape, avx512_panels(shape.dtype), b, memory);
}

}  // namespace poolcast::kernels
