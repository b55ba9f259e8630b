// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace poolcast {

/// A place in an input file. Line and column (in bytes) count from 1; 0 = not known.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  std::string source_line{};  ///< the text of that line, for the caret; may be left empty
};

/// A fault in the user's input: the user can mend it. The program prints it and exits with 2.
///
/// `what()` is the whole message: `file:line:column: key.path: message`, then the source line and a caret where they
/// are known. Parts that are not known are left out. A hint (`did you mean "GB/s"?`) stands behind the caret, or after
/// the message and a semicolon when there is no caret.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ConfigError(const Location& at, std::string_view key_path, std::string_view message, std::string_view hint = {});
};

/// A file that cannot be opened, read or written.
class FileError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Text from the user's file in double quotes, for a message: control characters and bytes that are no UTF-8 are spelt
/// \x1b, and long text is cut.
std::string quote(std::string_view text);

/// The candidate nearest to `word` by edit distance, or empty when none is near enough to be a likely slip.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

/// `did you mean "x"?`, or else `one of a, b, c`; empty when nothing is allowed.
std::string spelling_hint(std::string_view word, const std::vector<std::string_view>& allowed);

/// The same behind a semicolon, for the end of a message: `; did you mean "x"?` or the list of what is allowed: `; one
/// of a, b, c`.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& allowed);

}  // namespace poolcast
