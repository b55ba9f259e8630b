// SPDX-License-Identifier: Apache-2.0
#include "calibration/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

void split(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

CsvTable::CsvTable(const std::string& path) : lines_(path) {
  std::string_view line;
  if (!lines_.next(line)) throw ConfigError(Location{path}, "", "is empty: a header was expected");
  split(line, cells_);
  names_.assign(cells_.begin(), cells_.end());
}

bool CsvTable::has(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::size_t CsvTable::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  throw ConfigError(Location{lines_.path(), 1, 1}, "", "has no column " + quote(name));
}

bool CsvTable::next() {
  do {
    if (!lines_.next(line_)) return false;
  } while (line_.empty());
  split(line_, cells_);
  if (cells_.size() < names_.size()) fail("the row has fewer cells than the header");
  return true;
}

void CsvTable::fail(const std::string& message) const {
  throw ConfigError(Location{lines_.path(), static_cast<int>(lines_.number()), 1}, "", message);
}

void CsvTable::fail_at(std::size_t column, const std::string& message) const {
  const auto at = static_cast<int>(cells_[column].data() - line_.data()) + 1;
  throw ConfigError(Location{lines_.path(), static_cast<int>(lines_.number()), at, std::string(line_)}, "",
                    fmt::format("{} {} (column {})", quote(cells_[column]), message, names_[column]));
}

std::string_view CsvTable::text(std::size_t column) const { return cells_[column]; }

double CsvTable::number(std::size_t column) const {
  const std::string_view cell = cells_[column];
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value))
    fail_at(column, "is no number");
  return value;
}

std::int64_t CsvTable::integer(std::size_t column) const {
  const double value = number(column);
  if (value != std::floor(value) || std::abs(value) > 9e15) fail_at(column, "is no whole number");
  return static_cast<std::int64_t>(value);
}

std::int64_t CsvTable::size(std::size_t column, std::int64_t least) const {
  const std::int64_t value = integer(column);
  if (value < least || value > std::int64_t{1} << 40) fail_at(column, fmt::format("is not from {} to 2^40", least));
  return value;
}

double CsvTable::time(std::size_t column, double unit_s) const {
  constexpr double kLongest_s = 1e6;
  const double seconds = number(column) * unit_s;
  if (!(seconds > 0 && seconds < kLongest_s)) fail_at(column, "is no time");
  return seconds;
}

}  // namespace poolcast::calibration
