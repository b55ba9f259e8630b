// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poolcast {

/// The members of one line of a JSONL trace, before anything is made of them. The names of Mooncake and Qwen-Bailian
/// (timestamp, input_length, output_length, hash_ids, chat_id, parent_chat_id, session_id), of LLMServingSim
/// (arrival_time_ns, input_toks, output_toks) and of poolcast (timestamp_s, prompt_tokens, …) are all understood.
struct JsonRow {
  std::optional<double> time;
  std::optional<double> time_s;  ///< when the name of the member states the unit
  bool time_is_whole = true;
  std::optional<std::int64_t> prompt_tokens, output_tokens;
  std::optional<std::int64_t> priority, block_tokens;
  std::optional<double> think_time_s;
  std::optional<std::uint64_t> session, after_session;
  std::optional<std::int64_t> chat_id, parent_chat_id;
  bool has_hash_ids = false;
  std::vector<std::uint64_t> hash_ids;
  std::string model;
  std::string unknown;  ///< the first member that is none of these and not known to be without use

  void clear();
};

/// Parses lines of JSON. Keeps its buffers from line to line.
class JsonRowParser {
 public:
  JsonRowParser();
  ~JsonRowParser();

  /// Reads a line that has LineReader::kPadding readable bytes behind it. Nothing when all went well; otherwise what is
  /// wrong, for a message.
  std::optional<std::string> parse(std::string_view line, JsonRow& row);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poolcast
