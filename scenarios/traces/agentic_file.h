// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/traces/trace_log.h"

namespace poolcast {

/// One request of a coding agent, as its file has it.
struct AgenticRow {
  double t = 0;  ///< s since the session began; of a sub-agent's row too
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  double think_time_s = -1;                ///< since the end of the agent's last request
  std::uint32_t agent = 0;                 ///< 0 = the session itself, then its sub-agents in file order
  std::uint32_t after_agent = UINT32_MAX;  ///< of a sub-agent's first row: who called it
  std::uint32_t model = 0;                 ///< index of AgenticFile::models
  std::uint32_t hash_count = 0;
  std::uint64_t hash_begin = 0;  ///< in AgenticFile::hash_ids
};

/// A session of a coding agent (callanjfox/kv-cache-tester): one JSON object with `block_size` and a list `requests`,
/// whose rows are requests (t, in, out, hash_ids, api_time, think_time, model) or sub-agents with `requests` of their
/// own, timed from the sub-agent's t. Hash ids are local to the file.
struct AgenticFile {
  std::int64_t block_tokens = 0;
  std::uint32_t agents = 1;
  std::vector<std::string> models;
  std::vector<AgenticRow> rows;  ///< usable ones, by t, then in file order
  std::vector<std::uint32_t> hash_ids;
};

/// Reads a file whole. `block_tokens`, when not 0, is believed instead of the file's block_size. Bad rows go to `log`.
/// Throws FileError, and ConfigError when it is no such file.
AgenticFile read_agentic_file(const std::string& path, std::int64_t block_tokens, TraceLog& log);

}  // namespace poolcast
