// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/traces/input_file.h"

namespace poolcast {

/// Lines of a text file, plain or gzip, with constant memory. Line ends are LF or CR LF; the last one may be missing. A
/// byte order mark at the start is dropped.
class LineReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;
  static constexpr std::size_t kPadding = 64;  ///< readable bytes after a line, as simdjson wants them

  explicit LineReader(std::string path);  ///< throws FileError

  /// The next line without its end; valid until the next call. False at the end of the file. Throws FileError on a
  /// damaged file, ConfigError on a line longer than kLongestLine.
  bool next(std::string_view& line);

  std::uint64_t number() const { return number_; }  ///< of the last line, from 1
  std::uint64_t crlf_lines() const { return crlf_lines_; }
  std::uint64_t first_crlf_line() const { return first_crlf_; }
  bool ended_without_newline() const { return ended_without_newline_; }
  double progress() const { return input_.progress(); }
  const std::string& path() const { return input_.path(); }

 private:
  bool fill();
  void check_length(std::size_t bytes) const;

  InputFile input_;
  std::vector<char> buffer_;  // [begin_, end_) is not yet handed out; kPadding bytes are kept behind it
  std::size_t begin_ = 0, end_ = 0;
  bool at_end_ = false;
  std::uint64_t number_ = 0, crlf_lines_ = 0, first_crlf_ = 0;
  bool ended_without_newline_ = false;
};

}  // namespace poolcast
