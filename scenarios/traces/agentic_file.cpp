// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/agentic_file.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "scenarios/error.h"
#include "scenarios/traces/hash_blocks.h"
#include "scenarios/traces/input_file.h"
#include "scenarios/traces/text_trace.h"

namespace poolcast {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr int kDeepest = 32;

/// Walks the requests of a file and of its sub-agents.
class Walk {
 public:
  Walk(AgenticFile& file, const std::string& path, TraceLog& log)
      : file_(file), path_(path), log_(log), blocks_(file.block_tokens, log) {}

  void requests(array list, const std::string& where, std::uint32_t agent, std::uint32_t caller, double start,
                int depth) {
    if (depth > kDeepest) throw ConfigError(Location{path_}, where, "sub-agents are nested too deeply");
    double ended = start;  // of the agent's last request
    bool first = true;
    std::size_t index = 0;
    for (const element value : list) {
      item_ = fmt::format("{}[{}]", where, index++);
      object request;
      if (value.get(request) != simdjson::SUCCESS) {
        bad(Oddity::kBadValue, "is no object");
      } else if (array nested; request["requests"].get(nested) == simdjson::SUCCESS) {
        sub_agent(request, nested, agent, start, depth);
      } else if (AgenticRow row; parse(request, start, row)) {
        row.agent = agent;
        if (first && caller != UINT32_MAX) row.after_agent = caller;
        think_time(request, row, first, ended);
        first = false;
        file_.rows.push_back(row);
      }
    }
  }

 private:
  bool bad(Oddity fault, const std::string& message) {
    log_.bad_row(fault, place(), message);
    return false;
  }
  Place place() const { return Place{0, 0, {}, item_, path_}; }

  void sub_agent(object request, array nested, std::uint32_t caller, double start, int depth) {
    log_.remark(Oddity::kSubAgent, place(), [] { return "a sub-agent"; });
    double t = 0;
    if (request["t"].get(t) != simdjson::SUCCESS || !std::isfinite(t)) {
      bad(Oddity::kMissingField, "t is missing");
      return;
    }
    requests(nested, item_ + ".requests", file_.agents++, caller, start + t, depth + 1);
  }

  bool integer(object request, const char* key, std::int64_t& value) {
    const auto error = request[key].get(value);
    if (error == simdjson::SUCCESS) return true;
    if (error == simdjson::NO_SUCH_FIELD) return bad(Oddity::kMissingField, fmt::format("{} is missing", key));
    return bad(Oddity::kBadValue, fmt::format("{} is no whole number in range", key));
  }

  bool parse(object request, double start, AgenticRow& row) {
    const auto error = request["t"].get(row.t);
    if (error == simdjson::NO_SUCH_FIELD) return bad(Oddity::kMissingField, "t is missing");
    if (error != simdjson::SUCCESS || !std::isfinite(row.t) || row.t < 0)
      return bad(Oddity::kBadValue, "t is no number of seconds");
    row.t += start;
    if (!integer(request, "in", row.prompt_tokens) || !integer(request, "out", row.output_tokens)) return false;
    TraceRow lengths;
    lengths.prompt_tokens = row.prompt_tokens;
    lengths.output_tokens = row.output_tokens;
    if (!check_lengths(lengths, place(), log_)) return false;
    row.model = model_of(request);
    return hash_ids(request, row);
  }

  std::uint32_t model_of(object request) {
    std::string_view name;
    if (request["model"].get(name) != simdjson::SUCCESS) name = {};
    const auto index = std::find(file_.models.begin(), file_.models.end(), name) - file_.models.begin();
    if (index == std::ssize(file_.models)) file_.models.emplace_back(name);
    return static_cast<std::uint32_t>(index);
  }

  bool hash_ids(object request, AgenticRow& row) {
    array ids;
    if (request["hash_ids"].get(ids) != simdjson::SUCCESS) return true;
    row.hash_begin = file_.hash_ids.size();
    for (const element id : ids) {
      std::uint64_t number = 0;
      if (id.get(number) != simdjson::SUCCESS || number > UINT32_MAX)
        return bad(Oddity::kBadValue, "a hash id is no number of 32 bits");
      file_.hash_ids.push_back(static_cast<std::uint32_t>(number));
    }
    row.hash_count = static_cast<std::uint32_t>(file_.hash_ids.size() - row.hash_begin);
    if (row.hash_count > 0 && !blocks_.check(row.hash_count, row.prompt_tokens, place())) row.hash_count = 0;
    return true;
  }

  /// The time since the agent's last request ended. Where the file has none it is worked out from t and the last
  /// request's api_time; a sub-agent's first request comes that long after its caller's last one ended.
  void think_time(object request, AgenticRow& row, bool first, double& ended) {
    double think = 0, api_time = 0;
    const bool has_think = request["think_time"].get(think) == simdjson::SUCCESS && std::isfinite(think) && think >= 0;
    const bool has_api = request["api_time"].get(api_time) == simdjson::SUCCESS && std::isfinite(api_time);
    if (!has_api) log_.remark(Oddity::kMissingApiTime, place(), [] { return "no api_time"; });
    if (!has_think) log_.remark(Oddity::kMissingThinkTime, place(), [] { return "no think_time"; });
    if (row.after_agent != UINT32_MAX)
      row.think_time_s = std::max(0.0, row.t - last_end(row.after_agent));
    else
      row.think_time_s = has_think ? think : first ? 0 : std::max(0.0, row.t - ended);
    ended = row.t + (has_api ? std::max(0.0, api_time) : 0);
    if (ends_.size() <= row.agent) ends_.resize(row.agent + 1, 0.0);
    ends_[row.agent] = ended;
  }

  double last_end(std::uint32_t agent) const { return agent < ends_.size() ? ends_[agent] : 0; }

  AgenticFile& file_;
  const std::string& path_;
  TraceLog& log_;
  HashBlocks blocks_;
  std::string item_;
  std::vector<double> ends_;  // of the last request so far, by agent
};

}  // namespace

AgenticFile read_agentic_file(const std::string& path, std::int64_t block_tokens, TraceLog& log) {
  const WholeFile whole = read_whole(path);
  simdjson::dom::parser parser;
  element root;
  object session;
  array list;
  const auto error = parser.parse(whole.bytes.data(), whole.size, false).get(root);
  if (error != simdjson::SUCCESS)
    throw ConfigError(Location{path}, "", fmt::format("no valid JSON: {}", simdjson::error_message(error)));
  if (root.get(session) != simdjson::SUCCESS || session["requests"].get(list) != simdjson::SUCCESS)
    throw ConfigError(Location{path}, "", "no session of a coding agent: it has no list `requests`");
  AgenticFile file;
  if (session["block_size"].get(file.block_tokens) != simdjson::SUCCESS || file.block_tokens < 0) file.block_tokens = 0;
  if (block_tokens != 0) file.block_tokens = block_tokens;
  Walk(file, path, log).requests(list, "requests", 0, UINT32_MAX, 0, 0);
  std::stable_sort(file.rows.begin(), file.rows.end(),
                   [](const AgenticRow& a, const AgenticRow& b) { return a.t < b.t; });
  return file;
}

}  // namespace poolcast
