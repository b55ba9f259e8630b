// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/trace_log.h"

#include <fmt/format.h>

#include <utility>

#include "scenarios/error.h"

namespace poolcast {
namespace {

struct Words {
  const char* key;
  const char* sentence;
};

constexpr std::array<Words, kOddities> kWords = {{
    {"bad-value", "rows with a value that cannot be read"},
    {"missing-field", "rows with a field missing"},
    {"negative-tokens", "rows with a negative token count"},
    {"zero-prompt", "rows without a prompt token"},
    {"zero-output", "rows without an output token"},
    {"time-backwards", "rows earlier than the row before"},
    {"missing-table", "intervals with a rate but no length table"},
    {"unreadable", "the rest cannot be read"},
    {"no-rows", "the trace has no rows"},
    {"crlf", "lines end in CR LF"},
    {"no-final-newline", "the last line has no end"},
    {"blank-line", "lines are blank"},
    {"unknown-field", "fields are not used"},
    {"ties", "rows share the timestamp of the row before: timestamps are quantised"},
    {"silence", "silences of 50 mean gaps and more"},
    {"short-gap", "rows less than 10 us after the row before"},
    {"quiet-head", "the trace begins quietly"},
    {"blocks-round-up", "rows whose hash_ids count the last block that is not full"},
    {"blocks-round-down", "rows whose hash_ids count full blocks only"},
    {"hash-count", "rows whose hash_ids do not fit the prompt: their prefix data are not used"},
    {"sub-agent", "sub-agents: rows without in and out that hold rows"},
    {"unknown-caller", "rows whose after_session names no session before them: they begin by their timestamp"},
    {"missing-api-time", "rows without api_time"},
    {"missing-think-time", "rows without think_time: taken from the timestamps"},
    {"blank-session", "rows without a session"},
    {"zero-rate", "intervals with rate 0 and no distribution"},
    {"drawn-zero", "length tables that hold 0 tokens: a request that draws it cannot be used"},
    {"implausible-rate", "the mean rate is implausible"},
}};

std::string where(const Place& place) {
  std::string text(place.file.substr(place.file.find_last_of('/') + 1));
  if (place.line > 0) text += fmt::format("{}{}", text.empty() ? "" : ":", place.line);
  if (!place.item.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", place.item);
  return text;
}

}  // namespace

const char* key(Oddity oddity) { return kWords[static_cast<std::size_t>(oddity)].key; }
const char* sentence(Oddity oddity) { return kWords[static_cast<std::size_t>(oddity)].sentence; }

void TraceLog::add(Oddity oddity, const Place& place, std::string message) {
  examples_[static_cast<std::size_t>(oddity)].push_back(Example{where(place), std::move(message)});
}

void TraceLog::bad_row(Oddity fault, const Place& place, const std::string& message) {
  if (!collecting_ && on_bad_row_ == TraceSpec::BadRow::kStop) {
    const Location at{place.file.empty() ? file_ : std::string(place.file), static_cast<int>(place.line), place.column,
                      std::string(place.text.substr(0, 1 << 16))};
    throw ConfigError(at, place.item, message, "on_bad_row: skip leaves such rows out");
  }
  if (wants(fault)) add(fault, place, message);
  ++counts_[static_cast<std::size_t>(fault)];
  ++skipped_;
}

}  // namespace poolcast
