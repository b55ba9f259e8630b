// SPDX-License-Identifier: Apache-2.0
#include "scenarios/error.h"

#include <algorithm>
#include <cctype>

#include "scenarios/printable.h"

namespace poolcast {
namespace {

constexpr std::size_t kWidestSourceLine = 120;

/// The source line and its caret. A long line is cut to a stretch around the caret, at code point borders.
std::string excerpt(const Location& at, std::string_view hint) {
  std::string_view line = at.source_line;
  const std::size_t caret = std::min(static_cast<std::size_t>(at.column - 1), line.size());
  std::size_t begin =
      line.size() > kWidestSourceLine && caret > kWidestSourceLine / 2 ? caret - kWidestSourceLine / 2 : 0;
  while (begin > 0 && continues_code_point(line[begin])) --begin;
  const std::size_t end = code_point_end(line, std::min(line.size(), begin + kWidestSourceLine));

  std::string text = "\n" + printable(line.substr(begin, end - begin), "\t") + "\n";
  for (char c : printable(line.substr(begin, caret - begin), "\t")) {
    if (!continues_code_point(c)) text += c == '\t' ? '\t' : ' ';
  }
  text += '^';
  if (!hint.empty()) text.append(" ").append(hint);
  return text;
}

std::string whole_message(const Location& at, std::string_view key_path, std::string_view message,
                          std::string_view hint) {
  std::string text = at.file;
  if (at.line > 0) {
    text += (text.empty() ? "line " : ":") + std::to_string(at.line);
    if (at.column > 0) text += ":" + std::to_string(at.column);
  }
  for (std::string_view part : {key_path, message}) {
    if (part.empty()) continue;
    if (!text.empty()) text += ": ";
    text += part;
  }
  if (at.line > 0 && at.column > 0 && !at.source_line.empty()) return text + excerpt(at, hint);
  if (!hint.empty()) text.append("; ").append(hint);
  return text;
}

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// Whether `text` is `start` and more: "h100" is an unfinished "h100-sxm", "msec" an overdone "ms".
bool extends(std::string_view text, std::string_view start, std::size_t least) {
  return start.size() >= least && text.substr(0, start.size()) == start;
}

}  // namespace

ConfigError::ConfigError(const Location& at, std::string_view key_path, std::string_view message, std::string_view hint)
    : std::runtime_error(whole_message(at, key_path, message, hint)) {}

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  const std::size_t end = code_point_end(text, std::min(text.size(), kLongest));
  return '"' + printable(text.substr(0, end)) + (end < text.size() ? "…\"" : "\"");
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLongestWord = 100;
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string wanted = lower(word);
  const std::size_t near_enough = std::max<std::size_t>(word.size() > 2 ? 1 : 0, word.size() / 3);
  std::string_view best;
  std::size_t best_distance = near_enough + 1;
  for (std::string_view candidate : candidates) {
    const std::string known = lower(candidate);
    std::size_t distance = edit_distance(wanted, known);
    if (extends(known, wanted, 3) || extends(wanted, known, 2)) distance = std::min(distance, near_enough);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

std::string spelling_hint(std::string_view word, const std::vector<std::string_view>& allowed) {
  const std::string_view near = nearest(word, allowed);
  if (!near.empty()) return "did you mean \"" + std::string(near) + "\"?";
  if (allowed.empty()) return {};
  std::string text = "one of ";
  for (std::size_t i = 0; i < allowed.size(); ++i) text.append(i == 0 ? "" : ", ").append(allowed[i]);
  return text;
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& allowed) {
  const std::string hint = spelling_hint(word, allowed);
  return hint.empty() ? hint : "; " + hint;
}

}  // namespace poolcast
