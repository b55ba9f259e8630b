// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/json_row.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>

#include "scenarios/error.h"
#include "scenarios/traces/session_name.h"

namespace poolcast {
namespace {

using simdjson::dom::element;

enum class Member {
  kTime,
  kTimeSeconds,
  kTimeNanos,
  kPrompt,
  kOutput,
  kHashIds,
  kBlockTokens,
  kPriority,
  kThinkTime,
  kSession,
  kAfterSession,
  kChat,
  kParentChat,
  kModel,
  kUnused,
};

struct Name {
  std::string_view name;
  Member member;
};

constexpr Name kNames[] = {
    {"timestamp", Member::kTime},
    {"input_length", Member::kPrompt},
    {"output_length", Member::kOutput},
    {"hash_ids", Member::kHashIds},
    {"timestamp_s", Member::kTimeSeconds},
    {"prompt_tokens", Member::kPrompt},
    {"output_tokens", Member::kOutput},
    {"priority", Member::kPriority},
    {"session", Member::kSession},
    {"after_session", Member::kAfterSession},
    {"think_time_s", Member::kThinkTime},
    {"model", Member::kModel},
    {"block_tokens", Member::kBlockTokens},
    {"chat_id", Member::kChat},
    {"parent_chat_id", Member::kParentChat},
    {"session_id", Member::kSession},
    {"turn", Member::kUnused},
    {"type", Member::kUnused},
    {"arrival_time_ns", Member::kTimeNanos},
    {"input_toks", Member::kPrompt},
    {"output_toks", Member::kOutput},
    {"input_tok_ids", Member::kUnused},
    {"output_tok_ids", Member::kUnused},
};

const Name* find(std::string_view name) {
  for (const Name& known : kNames) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

bool read(element value, std::int64_t& out) { return value.get(out) == simdjson::SUCCESS; }

bool read(element value, double& out) { return value.get(out) == simdjson::SUCCESS && std::isfinite(out); }

template <class T>
bool read(element value, std::optional<T>& out) {
  T number{};
  if (!read(value, number)) return false;
  out = number;
  return true;
}

bool read_session(element value, std::optional<std::uint64_t>& out) {
  std::string_view text;
  std::uint64_t number = 0;
  if (value.is_null()) return true;
  if (value.get(number) == simdjson::SUCCESS) return out = number, true;
  if (value.get(text) != simdjson::SUCCESS) return false;
  if (!text.empty()) out = session_number(text);
  return true;
}

/// A value in a message. That a string is one is told, since a number is in quotes as well.
std::string shown(element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return "the string " + quote(text);
  return quote(simdjson::minify(value).substr(0, 200));
}

bool read_hash_ids(element value, JsonRow& row) {
  simdjson::dom::array ids;
  if (value.get(ids) != simdjson::SUCCESS) return false;
  row.has_hash_ids = true;
  for (const element id : ids) {
    std::uint64_t number = 0;
    std::int64_t negative = 0;
    if (id.get(number) != simdjson::SUCCESS) {
      if (id.get(negative) != simdjson::SUCCESS) return false;
      number = static_cast<std::uint64_t>(negative);  // some hash functions are signed: the bits identify the block
    }
    row.hash_ids.push_back(number);
  }
  return true;
}

bool read_member(Member member, element value, JsonRow& row) {
  switch (member) {
    case Member::kTime:
      row.time_is_whole = !value.is_double();
      return read(value, row.time);
    case Member::kTimeSeconds:
      return read(value, row.time_s);
    case Member::kTimeNanos:
      if (!read(value, row.time_s)) return false;
      *row.time_s *= 1e-9;
      return true;
    case Member::kPrompt:
      return read(value, row.prompt_tokens);
    case Member::kOutput:
      return read(value, row.output_tokens);
    case Member::kHashIds:
      return read_hash_ids(value, row);
    case Member::kBlockTokens:
      return read(value, row.block_tokens) && *row.block_tokens > 0;
    case Member::kPriority:
      return read(value, row.priority);
    case Member::kThinkTime:
      return read(value, row.think_time_s) && *row.think_time_s >= 0;
    case Member::kSession:
      return read_session(value, row.session);
    case Member::kAfterSession:
      return read_session(value, row.after_session);
    case Member::kChat:
      return read(value, row.chat_id);
    case Member::kParentChat:
      return read(value, row.parent_chat_id);
    case Member::kModel: {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) return false;
      row.model = text;
      return true;
    }
    case Member::kUnused:
      return true;
  }
  return true;
}

}  // namespace

struct JsonRowParser::State {
  simdjson::dom::parser parser;
};

JsonRowParser::JsonRowParser() : state_(std::make_unique<State>()) {}
JsonRowParser::~JsonRowParser() = default;

void JsonRow::clear() {
  time = time_s = think_time_s = std::nullopt;
  prompt_tokens = output_tokens = priority = block_tokens = chat_id = parent_chat_id = std::nullopt;
  session = after_session = std::nullopt;
  time_is_whole = true;
  has_hash_ids = false;
  hash_ids.clear();
  model.clear();
  unknown.clear();
}

std::optional<std::string> JsonRowParser::parse(std::string_view line, JsonRow& row) {
  row.clear();
  element root;
  simdjson::dom::object object;
  const auto error = state_->parser.parse(line.data(), line.size(), false).get(root);
  if (error != simdjson::SUCCESS) return fmt::format("no valid JSON: {}", simdjson::error_message(error));
  if (root.get(object) != simdjson::SUCCESS) return "a line of a JSONL trace is an object: {…}";
  for (const auto& [name, value] : object) {
    const Name* known = find(name);
    if (known == nullptr) {
      if (row.unknown.empty()) row.unknown = name;
    } else if (!read_member(known->member, value, row)) {
      return fmt::format("{}: {} is not a value of the right kind or range", name, shown(value));
    }
  }
  return std::nullopt;
}

}  // namespace poolcast
