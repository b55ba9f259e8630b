// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace poolcast {

/// Width of a terminal line that every text of the program keeps to.
inline constexpr std::size_t kTextColumns = 100;

/// A table of text: the first column to the left and indented, the others to the right, two spaces apart. The header
/// stands flush with the margin. First cells are cut in the middle where the table would be wider than kTextColumns.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  /// Takes as many cells as the header has.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// `text` in lines of at most kTextColumns: the first begins with `lead`, the others are indented as far.
std::string wrapped(const std::string& lead, const std::string& text);

/// Columns that UTF-8 text takes on a terminal, counting every code point as one.
std::size_t columns_of(const std::string& text);

/// `text` in at most `columns` >= 5 columns, its middle replaced by ".." when it is longer.
std::string shortened(const std::string& text, std::size_t columns);

}  // namespace poolcast
