// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/traces/columns.h"
#include "scenarios/traces/text_trace.h"

namespace poolcast {

/// A text trace whose columns are named by a header. Derived readers say what the columns mean.
class CsvTrace : public TextTrace {
 public:
  CsvTrace(const std::string& path, TraceLog& log);

 protected:
  bool parse(std::string_view line, TraceRow& row) final;
  virtual bool parse_fields(TraceRow& row) = 0;

  /// The text of a column in the current row; empty when the column is absent.
  std::string_view field(std::size_t column) const { return column == Columns::kAbsent ? "" : fields_[column]; }
  /// The number in a column. An empty or wrong field is reported as a bad row, and the answer is false.
  bool number(std::size_t column, const char* what, std::int64_t& value);
  bool number(std::size_t column, const char* what, double& value);

  Columns columns_;

 private:
  std::vector<std::string_view> fields_;
  std::string scratch_;
};

}  // namespace poolcast
