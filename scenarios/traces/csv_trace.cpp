// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/csv_trace.h"

#include <fmt/format.h>

#include "scenarios/traces/fields.h"

namespace poolcast {

CsvTrace::CsvTrace(const std::string& path, TraceLog& log) : TextTrace(path, log) {
  std::string_view header;
  if (!take_line(header)) throw ConfigError(Location{path}, "", "the file is empty");
  columns_ = Columns(path, header);
}

bool CsvTrace::parse(std::string_view line, TraceRow& row) {
  if (!split_csv(line, fields_, scratch_)) return bad(Oddity::kBadValue, line, "a quote is not closed");
  if (fields_.size() != columns_.count())
    return bad(Oddity::kMissingField, line,
               fmt::format("the row has {} fields, the header {}", fields_.size(), columns_.count()));
  return parse_fields(row);
}

bool CsvTrace::number(std::size_t column, const char* what, std::int64_t& value) {
  const std::string_view text = field(column);
  const auto parsed = parse_integer(text);
  if (parsed) return value = *parsed, true;
  if (text.empty()) return bad(Oddity::kMissingField, text, fmt::format("{} is missing", what));
  return bad(Oddity::kBadValue, text, fmt::format("{}: {} is no whole number in range", what, quote(text)));
}

bool CsvTrace::number(std::size_t column, const char* what, double& value) {
  const std::string_view text = field(column);
  const auto parsed = parse_real(text);
  if (parsed) return value = *parsed, true;
  if (text.empty()) return bad(Oddity::kMissingField, text, fmt::format("{} is missing", what));
  return bad(Oddity::kBadValue, text, fmt::format("{}: {} is no finite number", what, quote(text)));
}

}  // namespace poolcast
