// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/traces/line_reader.h"

namespace poolcast::calibration {

/// A CSV file with a header, plain or gzip, read row by row. Cells have no quotes, as published measurements have none.
/// Everything throws ConfigError with file and line, and the column of the cell at fault: a missing file or column, a
/// row with fewer cells, no number, a size or time that cannot be.
class CsvTable {
 public:
  explicit CsvTable(const std::string& path);

  bool has(std::string_view column) const;
  std::size_t column(std::string_view name) const;
  bool next();

  std::string_view text(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;
  std::int64_t size(std::size_t column, std::int64_t least = 1) const;  ///< a whole number from `least` to 2^40
  double number(std::size_t column) const;
  double time(std::size_t column, double unit_s) const;  ///< seconds, of a cell above 0 that counts `unit_s`
  [[noreturn]] void fail(const std::string& message) const;

 private:
  [[noreturn]] void fail_at(std::size_t column, const std::string& message) const;

  LineReader lines_;
  std::string_view line_;
  std::vector<std::string> names_;
  std::vector<std::string_view> cells_;
};

}  // namespace poolcast::calibration
