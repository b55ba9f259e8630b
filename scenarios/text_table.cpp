// SPDX-License-Identifier: Apache-2.0
#include "scenarios/text_table.h"

#include <algorithm>
#include <sstream>

namespace poolcast {
namespace {

bool begins_code_point(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Where the code point of that ordinal begins, or the end.
std::size_t offset_of(const std::string& text, std::size_t ordinal) {
  std::size_t at = 0;
  while (at < text.size() && !(begins_code_point(text[at]) && ordinal-- == 0)) ++at;
  return at;
}

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_code_point));
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  const std::size_t kept = columns - 2;
  return text.substr(0, offset_of(text, kept - kept / 2)) + ".." +
         text.substr(offset_of(text, columns_of(text) - kept / 2));
}

std::string TextTable::text() const {
  constexpr std::size_t kIndent = 2;
  constexpr std::size_t kGap = 2;
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t indent = i == 0 && &cells != &rows_.front() ? kIndent : 0;
      widths[i] = std::max(widths[i], columns_of(cells[i]) + indent);
    }
  }
  std::size_t others = 0;
  for (std::size_t i = 1; i < widths.size(); ++i) others += kGap + widths[i];
  widths[0] = std::min(widths[0], kTextColumns - std::min(others, kTextColumns - 12));

  std::string out;
  for (const auto& cells : rows_) {
    const std::size_t indent = &cells == &rows_.front() ? 0 : kIndent;
    const std::string first = shortened(cells[0], widths[0] - indent);
    std::string line = std::string(indent, ' ') + first + std::string(widths[0] - indent - columns_of(first), ' ');
    for (std::size_t i = 1; i < cells.size(); ++i) {
      line += std::string(kGap + widths[i] - columns_of(cells[i]), ' ') + cells[i];
    }
    trim_right(line);
    out += line + '\n';
  }
  return out;
}

std::string wrapped(const std::string& lead, const std::string& text) {
  const std::string indent(columns_of(lead), ' ');
  std::string out;
  std::string line = lead;
  bool empty = true;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!empty && columns_of(line) + 1 + columns_of(word) > kTextColumns) {
      out += line + '\n';
      line = indent;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return out + line + '\n';
}

}  // namespace poolcast
