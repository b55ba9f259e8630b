// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "scenarios/traces/line_reader.h"
#include "scenarios/traces/trace.h"
#include "scenarios/traces/trace_log.h"

namespace poolcast {

/// Whether the lengths of a row can be used: prompt and output at least one token. Otherwise it is a bad row at
/// `place`.
bool check_lengths(TraceRow& row, const Place& place, TraceLog& log);

/// A reader of a text file with one row a line. It yields rows in file order with the timestamps of the file; order and
/// the start at 0 are OrderedReader's.
class TextTrace : public TraceReader {
 public:
  TextTrace(const std::string& path, TraceLog& log) : lines_(path), log_(log) {}

  bool next(TraceRow& row) final;
  double progress() const override { return lines_.progress(); }

 protected:
  /// Fills a row that was reset, or reports it with `bad` and returns false.
  virtual bool parse(std::string_view line, TraceRow& row) = 0;
  /// Reports a bad row and returns false. `field` is the part of the current line that is at fault, or anything else.
  bool bad(Oddity fault, std::string_view field, const std::string& message);
  Place place(std::string_view field = {}) const;
  /// A whole line that is no row, such as a header; false at the end of the file.
  bool take_line(std::string_view& line) { return lines_.next(line_) && (line = line_, true); }

  LineReader lines_;
  TraceLog& log_;

 private:
  void end();

  std::string_view line_;
  bool ended_ = false;
};

}  // namespace poolcast
