// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "scenarios/error.h"
#include "scenarios/traces/hash_blocks.h"
#include "scenarios/traces/json_row.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/text_trace.h"

namespace poolcast {
namespace {

/// JSONL traces. A numeric `timestamp` (Mooncake, Qwen) is in units of `spec.time_unit`; the other formats state theirs
/// in the name. The turns of a Qwen chat name their predecessor: they are joined into sessions for a replay of sessions
/// only, since that takes memory per turn.
class JsonlReader final : public TextTrace {
 public:
  JsonlReader(const TraceSpec& spec, TraceLog& log)
      : TextTrace(spec.file, log),
        unit_(spec.time_unit.value_or(Seconds(1))),
        joins_chats_(spec.replay == TraceSpec::Replay::kSessions),
        blocks_(spec.block_tokens.value_or(0), log) {}

  std::int64_t block_tokens() const override { return blocks_.block_tokens(); }

 private:
  bool parse(std::string_view line, TraceRow& row) override {
    if (const auto fault = parser_.parse(line, json_)) return bad(Oddity::kBadValue, line, *fault);
    if (!json_.time && !json_.time_s) return missing("timestamp");
    if (!json_.prompt_tokens) return missing("input_length or prompt_tokens");
    if (!json_.output_tokens) return missing("output_length or output_tokens");
    if (json_.priority && (*json_.priority < INT32_MIN || *json_.priority > INT32_MAX))
      return bad(Oddity::kBadValue, line, fmt::format("priority: {} does not fit 32 bits", *json_.priority));
    row.timestamp = json_.time_s ? Seconds(*json_.time_s) : unit_ * *json_.time;
    row.prompt_tokens = *json_.prompt_tokens;
    row.output_tokens = *json_.output_tokens;
    row.has_priority = json_.priority.has_value();
    row.priority = static_cast<std::int32_t>(json_.priority.value_or(0));
    row.think_time = Seconds(json_.think_time_s.value_or(-1));
    row.session = session();
    row.after_session = json_.after_session.value_or(UINT64_MAX);
    std::swap(row.model, json_.model);
    std::swap(row.hash_ids, json_.hash_ids);
    blocks_.check(row, place());
    if (!json_.unknown.empty()) log_.remark(Oddity::kUnknownField, place(), [&] { return quote(json_.unknown); });
    return true;
  }

  bool missing(const char* what) { return bad(Oddity::kMissingField, {}, fmt::format("{} is missing", what)); }

  std::uint64_t session() {
    if (json_.session) return *json_.session;
    if (!joins_chats_ || !json_.chat_id) return UINT64_MAX;
    const std::int64_t id = *json_.chat_id, parent = json_.parent_chat_id.value_or(-1);
    const auto earlier = parent < 0 ? roots_.end() : roots_.find(parent);
    const std::int64_t root = earlier == roots_.end() ? id : earlier->second;
    roots_[id] = root;
    return static_cast<std::uint64_t>(root);
  }

  Seconds unit_;
  bool joins_chats_;
  HashBlocks blocks_;
  JsonRowParser parser_;
  JsonRow json_;
  std::unordered_map<std::int64_t, std::int64_t> roots_;  // first turn by turn; never iterated
};

}  // namespace

std::unique_ptr<TraceReader> open_jsonl(const TraceSpec& spec, TraceLog& log) {
  return std::make_unique<JsonlReader>(spec, log);
}

}  // namespace poolcast
