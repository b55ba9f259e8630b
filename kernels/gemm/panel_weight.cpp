// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/panel_weight.h"

#include <algorithm>
#include <cstring>

#include "kernels/element.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

int output_bytes(DType dtype) { return dtype == DType::kInt8 ? 4 : bytes_per_element(dtype); }

/// Sums of a task, one buffer a thread; at a multiple of 64 bytes.
std::uint32_t* sums_of_this_thread(std::int64_t words) {
  thread_local std::vector<std::uint32_t> buffer;
  buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(words) + 16));
  const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
  return buffer.data() + (rounded_up(static_cast<std::int64_t>(address), 64) - static_cast<std::int64_t>(address)) / 4;
}

}  // namespace

PanelWeight::PanelWeight(const WeightShape& shape, const PanelFormat& format, const void* b, Memory& memory)
    : shape_(shape), format_(format) {
  const std::int64_t bytes = shape.k * bytes_per_element(shape.dtype);
  words_ = rounded_up((bytes + 3) / 4, format.word_multiple);
  row_words_ =
      rounded_up(words_, 16) + 16;  // an odd number of lines more often than not: rows fall on unlike cache sets
  panels_ = (shape.n + format.panel_columns - 1) / format.panel_columns;
  group_ = std::clamp<std::int64_t>(panels_ / 8, 1, format.task_panels);  // enough parts for some threads
  packed_ = memory.take<std::uint32_t>(panels_ * words_ * format.panel_columns);
  if (format.unsigned_rows) start_ = memory.take<std::int32_t>(panels_ * format.panel_columns);
  for (std::int64_t panel = 0; panel < panels_; ++panel) pack_panel(panel, b);
}

void PanelWeight::pack_panel(std::int64_t panel, const void* b) {
  const int element = bytes_per_element(shape_.dtype), per_word = 4 / element;
  const std::int64_t first = panel * format_.panel_columns;
  const std::int64_t columns = std::min<std::int64_t>(format_.panel_columns, shape_.n - first);
  auto* out = reinterpret_cast<char*>(packed_ + panel * words_ * format_.panel_columns);
  const auto* in = static_cast<const char*>(b);
  for (std::int64_t row = 0; row < shape_.k; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      const char* from = in + (row * shape_.n + first + column) * element;
      std::memcpy(out + 4 * format_.panel_index(row / per_word, column) + row % per_word * element, from,
                  static_cast<std::size_t>(element));
      if (start_) start_[first + column] -= 128 * static_cast<std::int32_t>(static_cast<signed char>(*from));
    }
}

std::unique_ptr<Weight> PanelWeight::copy(Memory& memory) const {
  auto other = std::make_unique<PanelWeight>(*this);
  const std::int64_t words = panels_ * words_ * format_.panel_columns;
  other->packed_ = memory.take<std::uint32_t>(words);
  std::memcpy(other->packed_, packed_, static_cast<std::size_t>(words) * sizeof *packed_);
  return other;
}

std::int64_t PanelWeight::packed_words(std::int64_t rows) const {
  return rounded_up(rows, format_.row_block) * row_words_;
}

void PanelWeight::pack_row(const void* row, std::int64_t index, std::uint32_t* packed) const {
  format_.pack_row(row, shape_.k * bytes_per_element(shape_.dtype), index, row_words_, packed);
}

std::int64_t PanelWeight::parts(std::int64_t rows) const {
  return (panels_ + group_ - 1) / group_ * ((rows + format_.task_rows - 1) / format_.task_rows);
}

void PanelWeight::multiply_part(std::int64_t part, const std::uint32_t* packed, std::int64_t rows, void* c) const {
  const std::int64_t groups = (panels_ + group_ - 1) / group_, columns = format_.panel_columns;
  const std::int64_t first_panel = part % groups * group_, first_row = part / groups * format_.task_rows;
  PanelTask task{};
  task.a = packed + first_row * row_words_;
  task.row_words = row_words_;
  task.rows = std::min(format_.task_rows, rows - first_row);
  task.b = packed_ + first_panel * words_ * columns;
  task.words = words_;
  task.panels = std::min(group_, panels_ - first_panel);
  task.columns = std::min(task.panels * columns, shape_.n - first_panel * columns);
  task.c = static_cast<char*>(c) + (first_row * shape_.n + first_panel * columns) * output_bytes(shape_.dtype);
  task.row_elements = shape_.n;
  task.sums = sums_of_this_thread(task.panels * rounded_up(task.rows, format_.row_block) * columns);
  task.start = start_ ? start_ + first_panel * columns : nullptr;
  format_.multiply(task);
}

void PanelWeight::multiply(const void* a, std::int64_t m, void* c, Team& team) {
  // One for all weights: rows of its own would be as cold as the weight is.
  thread_local std::vector<std::uint32_t> room;
  room.resize(std::max(room.size(), static_cast<std::size_t>(packed_words(m))));
  std::uint32_t* const packed = room.data();  // the caller's, for all threads
  const std::int64_t bytes = shape_.k * bytes_per_element(shape_.dtype);
  constexpr std::int64_t kRowsOfAPart = 96;  // a multiple of every row block, so that parts write apart
  team.parallel((m + kRowsOfAPart - 1) / kRowsOfAPart, [&](std::int64_t part) {
    for (std::int64_t row = part * kRowsOfAPart; row < std::min(m, (part + 1) * kRowsOfAPart); ++row)
      pack_row(static_cast<const char*>(a) + row * bytes, row, packed);
  });
  team.parallel(parts(m), [&](std::int64_t part) { multiply_part(part, packed, m, c); });
}

}  // namespace poolcast::kernels
