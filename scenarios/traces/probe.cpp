// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "scenarios/error.h"
#include "scenarios/traces/hash_blocks.h"
#include "scenarios/traces/json_row.h"
#include "scenarios/traces/line_reader.h"
#include "scenarios/traces/readers.h"

namespace poolcast {
namespace {

constexpr std::uint64_t kHeadRows = 500;
constexpr std::array<std::int64_t, 8> kBlockSizes = {16, 32, 64, 128, 256, 512, 1024, 2048};

/// Counts how many rows each block size fits.
class BlockVote {
 public:
  void add(std::int64_t ids, std::int64_t prompt_tokens) {
    ++rows_;
    for (std::size_t i = 0; i < kBlockSizes.size(); ++i)
      fitting_[i] += HashBlocks::fits(ids, prompt_tokens, kBlockSizes[i]) ? 1 : 0;
  }

  /// The size that fits most rows, if it fits nine of ten. Short prompts may fit several: then Qwen's 16 for chats and
  /// Mooncake's 512 for others.
  void decide(JsonlHead& head) const {
    if (rows_ == 0) return;
    const std::uint64_t most = *std::max_element(fitting_.begin(), fitting_.end());
    if (10 * most < 9 * rows_) {
      head.block_note = "no block size fits hash_ids: prefix data are not used; the key block_tokens states it";
      return;
    }
    std::vector<std::int64_t> best;
    for (std::size_t i = 0; i < kBlockSizes.size(); ++i) {
      if (fitting_[i] == most) best.push_back(kBlockSizes[i]);
    }
    const std::int64_t usual = head.has_chats ? 16 : 512;
    const bool usual_fits = std::find(best.begin(), best.end(), usual) != best.end();
    head.block_tokens = usual_fits ? usual : best.front();
    head.block_note = fmt::format(
        "hash_ids: blocks of {} tokens, {}", head.block_tokens,
        best.size() == 1 ? "the size that fits the prompts" : "the usual size (the first prompts fit others too)");
  }

 private:
  std::uint64_t rows_ = 0;
  std::array<std::uint64_t, kBlockSizes.size()> fitting_{};
};

double mean_rate(const JsonlHead& head, double unit_s) {
  return head.span > 0 ? static_cast<double>(head.rows - 1) / (head.span * unit_s) : 0;
}

bool plausible(double rate) { return rate >= 0.05 && rate <= 2000; }

/// Milliseconds or seconds: the one that makes a plausible mean rate, else by whether the timestamps are whole numbers.
Seconds likely_unit(const JsonlHead& head) {
  const bool ms = plausible(mean_rate(head, 1e-3)), s = plausible(mean_rate(head, 1));
  if (ms != s) return Seconds(ms ? 1e-3 : 1);
  return Seconds(head.time_is_whole ? 1e-3 : 1);
}

std::string both_rates(const JsonlHead& head) {
  if (head.span <= 0) return "the first rows do not tell";
  return fmt::format("here ms would mean {:.3g} requests/s and s {:.3g} requests/s", mean_rate(head, 1e-3),
                     mean_rate(head, 1));
}

void resolve_unit(TraceSpec& spec, const JsonlHead& head, std::vector<std::string>& notes) {
  if (!head.time_is_open) return;
  const bool guess = !spec.time_unit;
  if (guess && !spec.guess_time_unit && head.rows > 0)
    throw ConfigError(
        Location{spec.file}, "time_unit",
        fmt::format("timestamps of this format have no stated unit: Mooncake and AIPerf write ms, GuideLLM "
                    "reads s; {}",
                    both_rates(head)),
        likely_unit(head).value < 1 ? "most likely `time_unit: 1 ms`" : "most likely `time_unit: 1 s`");
  if (guess) spec.time_unit = likely_unit(head);
  const double rate = mean_rate(head, spec.time_unit->value);
  notes.push_back(fmt::format("time unit {:g} s, {}; the first {} rows come at {:.3g} requests/s",
                              spec.time_unit->value, guess ? "the likely one" : "as stated", head.rows, rate));
  if (head.span > 0 && (rate < kLowestPlausibleRate || rate > kHighestPlausibleRate))
    notes.push_back(fmt::format("a rate of {:.3g} requests/s is implausible: is time_unit right?", rate));
}

void refuse_unit(const TraceSpec& spec) {
  if (spec.time_unit && spec.format != TraceFormat::kBurstGpt)
    throw ConfigError(Location{spec.file}, "time_unit",
                      fmt::format("the format {} states its own unit; leave the key out", name(spec.format)));
}

bool holds_hash_ids(TraceFormat format) {
  return format == TraceFormat::kMooncake || format == TraceFormat::kJsonl || format == TraceFormat::kHdf5 ||
         format == TraceFormat::kAgentic;
}

/// A key that would change nothing was meant to change something.
void refuse_keys_of_others(const TraceSpec& spec) {
  const auto refuse = [&](const char* key, const char* formats) {
    throw ConfigError(Location{spec.file}, key,
                      fmt::format("has no effect on the format {}; it is for {}", name(spec.format), formats));
  };
  if (spec.block_tokens && !holds_hash_ids(spec.format)) refuse("block_tokens", "mooncake, jsonl, hdf5 and agentic");
  if (spec.file_gap.value > 0 && spec.format != TraceFormat::kAgentic) refuse("file_gap", "agentic");
  if (spec.reorder.value > 0 && spec.format == TraceFormat::kServeGen) refuse("reorder", "all formats but servegen");
}

}  // namespace

JsonlHead read_jsonl_head(const std::string& path) {
  LineReader lines(path);
  JsonRowParser parser;
  JsonRow row;
  JsonlHead head;
  BlockVote vote;
  double first = 0;
  std::string_view line;
  while (head.rows < kHeadRows && lines.next(line)) {
    if (line.empty() || parser.parse(line, row)) continue;  // bad rows are reported when the trace is read
    if (row.time) {
      head.time_is_open = true;
      head.time_is_whole = head.time_is_whole && row.time_is_whole;
      if (head.rows == 0) first = *row.time;
      head.span = std::max(head.span, *row.time - first);
    }
    ++head.rows;
    head.has_chats = head.has_chats || row.chat_id;
    head.has_hash_ids = head.has_hash_ids || row.has_hash_ids;
    if (row.block_tokens) head.block_tokens = *row.block_tokens;
    if (!row.hash_ids.empty() && row.prompt_tokens && *row.prompt_tokens > 0)
      vote.add(static_cast<std::int64_t>(row.hash_ids.size()), *row.prompt_tokens);
  }
  if (head.block_tokens == 0)
    vote.decide(head);
  else
    head.block_note = fmt::format("hash_ids: blocks of {} tokens, as the file states", head.block_tokens);
  return head;
}

TraceSpec resolve_trace(const TraceSpec& spec, std::vector<std::string>& notes) {
  TraceSpec resolved = spec;
  if (spec.format == TraceFormat::kAuto) {
    const DetectedFormat detected = detect_format(spec.file);
    resolved.format = detected.format;
    notes.push_back(fmt::format("format {}, by {}", name(detected.format), detected.why));
  }
  refuse_keys_of_others(resolved);
  if (resolved.format != TraceFormat::kMooncake && resolved.format != TraceFormat::kJsonl) {
    refuse_unit(resolved);
    return resolved;
  }
  const JsonlHead head = read_jsonl_head(spec.file);
  if (!head.time_is_open && head.rows > 0) refuse_unit(resolved);
  resolve_unit(resolved, head, notes);
  if (!head.has_hash_ids) return resolved;
  if (!spec.block_tokens) resolved.block_tokens = head.block_tokens;
  notes.push_back(spec.block_tokens ? fmt::format("hash_ids: blocks of {} tokens, as stated", *spec.block_tokens)
                                    : head.block_note);
  return resolved;
}

std::optional<Seconds> find_quantum(const TraceSpec& spec) {
  TraceSpec head = spec;
  head.on_bad_row = TraceSpec::BadRow::kSkip;  // bad rows are reported when the trace is read
  const auto reader = open_resolved(head, std::make_shared<TraceLog>(spec.file, head.on_bad_row));
  TraceRow row;
  std::int64_t common = 0;
  for (std::uint64_t rows = 0; rows < 1000 && reader->next(row); ++rows)
    common = std::gcd(common, static_cast<std::int64_t>(to_sim_time(row.timestamp)));
  if (common == 0) return std::nullopt;
  SimTime quantum = 1;
  while (quantum < kNanosPerSecond && common % (quantum * 10) == 0) quantum *= 10;
  return Seconds(static_cast<double>(quantum) / 1e9);
}

TraceProbe probe_trace(const TraceSpec& spec) {
  TraceProbe probe;
  const TraceSpec resolved = resolve_trace(spec, probe.notes);
  probe.format = resolved.format;
  probe.time_unit = resolved.time_unit;
  const auto reader = open_resolved(resolved, std::make_shared<TraceLog>(spec.file, TraceSpec::BadRow::kSkip));
  probe.block_tokens = reader->block_tokens();
  if (spec.spread == TraceSpec::Spread::kUniform) {
    probe.quantum = spec.quantum ? spec.quantum : find_quantum(resolved);
    if (probe.quantum)
      probe.notes.push_back(fmt::format("timestamps spread over {:g} s, {}", probe.quantum->value,
                                        spec.quantum ? "as stated" : "the quantum of the first rows"));
  }
  return probe;
}

}  // namespace poolcast
