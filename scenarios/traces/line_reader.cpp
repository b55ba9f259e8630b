// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/line_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "scenarios/error.h"

namespace poolcast {

LineReader::LineReader(std::string path) : input_(std::move(path)), buffer_((1u << 18) + kPadding) {}

/// Moves what is left to the front, grows the buffer when a line fills it, and reads more.
bool LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ + kPadding == buffer_.size()) {
    check_length(end_);
    buffer_.resize(2 * buffer_.size());
  }
  const std::size_t got = input_.read(buffer_.data() + end_, buffer_.size() - kPadding - end_);
  end_ += got;
  return got > 0;
}

void LineReader::check_length(std::size_t bytes) const {
  if (bytes > kLongestLine)
    throw ConfigError(Location{path(), static_cast<int>(number_ + 1)}, "",
                      fmt::format("the line is longer than {} MiB", kLongestLine >> 20));
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  const char* newline = nullptr;
  while (true) {
    const char* from = buffer_.data() + begin_ + searched;
    const std::size_t left = end_ - begin_ - searched;
    newline = left == 0 ? nullptr : static_cast<const char*>(std::memchr(from, '\n', left));
    if (newline != nullptr || at_end_) break;
    searched = end_ - begin_;
    at_end_ = !fill();
  }
  if (newline == nullptr && begin_ == end_) return false;
  const char* text = buffer_.data() + begin_;
  const char* stop = newline != nullptr ? newline : buffer_.data() + end_;
  check_length(static_cast<std::size_t>(stop - text));
  begin_ = static_cast<std::size_t>(stop - buffer_.data()) + (newline != nullptr ? 1 : 0);
  ended_without_newline_ = newline == nullptr;
  ++number_;
  if (stop > text && stop[-1] == '\r') {
    --stop;
    if (crlf_lines_++ == 0) first_crlf_ = number_;
  }
  if (number_ == 1 && stop - text >= 3 && std::memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3;
  line = std::string_view(text, static_cast<std::size_t>(stop - text));
  return true;
}

}  // namespace poolcast
