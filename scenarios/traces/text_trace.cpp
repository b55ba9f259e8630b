// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/text_trace.h"

#include <fmt/format.h>

#include <utility>

#include "scenarios/traces/trace_row.h"

namespace poolcast {

bool check_lengths(TraceRow& row, const Place& place, TraceLog& log) {
  if (row.prompt_tokens > 0 && row.output_tokens > 0) return true;
  if (row.prompt_tokens < 0 || row.output_tokens < 0) {
    log.bad_row(Oddity::kNegativeTokens, place,
                fmt::format("negative token count: prompt {}, output {}", row.prompt_tokens, row.output_tokens));
  } else if (row.prompt_tokens == 0) {
    log.bad_row(Oddity::kZeroPrompt, place, "the prompt has 0 tokens");
  } else {
    log.bad_row(Oddity::kZeroOutput, place, "the output has 0 tokens");
  }
  return false;
}

bool TextTrace::next(TraceRow& row) {
  while (lines_.next(line_)) {
    if (line_.empty()) {
      log_.remark(Oddity::kBlankLine, place(), [] { return "blank"; });
      continue;
    }
    reset_row(row, lines_.number());
    if (parse(line_, row) && check_lengths(row, place(), log_)) return true;
  }
  end();
  return false;
}

void TextTrace::end() {
  if (std::exchange(ended_, true)) return;
  if (lines_.crlf_lines() > 0) {
    log_.remark(Oddity::kCrlf, Place{lines_.first_crlf_line()}, [] { return "the first of them"; });
    log_.more(Oddity::kCrlf, lines_.crlf_lines() - 1);
  }
  if (lines_.ended_without_newline())
    log_.remark(Oddity::kNoFinalNewline, Place{lines_.number()}, [] { return "the last line"; });
}

Place TextTrace::place(std::string_view field) const {
  Place at{lines_.number(), 0, line_};
  const bool inside = !line_.empty() && field.data() >= line_.data() && field.data() <= line_.data() + line_.size();
  if (inside) at.column = static_cast<int>(field.data() - line_.data()) + 1;
  return at;
}

bool TextTrace::bad(Oddity fault, std::string_view field, const std::string& message) {
  log_.bad_row(fault, place(field), message);
  return false;
}

}  // namespace poolcast
