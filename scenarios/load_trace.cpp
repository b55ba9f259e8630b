// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>

#include "scenarios/include.h"
#include "scenarios/load_parts.h"
#include "scenarios/traces/trace_files.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

constexpr std::array<TraceFormat, 9> kFormats = {TraceFormat::kAuto,     TraceFormat::kAzure,   TraceFormat::kMooncake,
                                                 TraceFormat::kBurstGpt, TraceFormat::kAgentic, TraceFormat::kServeGen,
                                                 TraceFormat::kCsv,      TraceFormat::kJsonl,   TraceFormat::kHdf5};

TraceFormat load_format(const YamlNode& node) {
  std::vector<std::string_view> names;
  for (TraceFormat format : kFormats) names.emplace_back(name(format));
  return kFormats[node.choice(names)];
}

Seconds read_above_zero(const YamlNode& node) {
  const Seconds time = read_seconds(node);
  if (!(time > Seconds(0))) node.fail("must be above 0 s, got " + quote(node.text()));
  return time;
}

/// `ms` means the same as `1 ms`.
Seconds load_time_unit(const YamlNode& node) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
  for (const auto& [word, seconds] : kUnits) {
    if (node.is_word(word)) return Seconds(seconds);
  }
  return read_above_zero(node);
}

std::string find_trace(const YamlNode& node, const std::string& folder) {
  const std::string place = find_file(node, folder);
  if (const std::string fault = fault_of_trace_path(place); !fault.empty()) node.fail(quote(place) + " " + fault);
  return place;
}

void load_window(const YamlNode& node, TraceSpec& trace) {
  const auto [from, to] = load_pair(node);
  trace.window_begin = read_seconds(from);
  if (!to.is_word("none")) trace.window_end = read_seconds(to);
  if (!(trace.window_begin < trace.window_end)) node.fail("the window ends before it begins");
}

void load_range(MappingReader& reader, const std::string& key, std::int64_t& min, std::int64_t& max) {
  const auto node = reader.optional(key);
  if (!node) return;
  const auto [from, to] = load_pair(*node);
  min = load_bound(from, 0);
  max = load_bound(to, INT64_MAX);
  if (min > max) node->fail("the range ends before it begins");
}

void load_filter(const YamlNode& node, TraceSpec& trace) {
  MappingReader reader(node);
  load_range(reader, "prompt_tokens", trace.min_prompt_tokens, trace.max_prompt_tokens);
  load_range(reader, "output_tokens", trace.min_output_tokens, trace.max_output_tokens);
  if (const auto model = reader.optional("model")) trace.model = model->text();
  reader.finish();
}

}  // namespace

std::string find_file(const YamlNode& node, const std::string& main_folder, const std::string& advice) {
  const std::string folder = folder_of(node, main_folder);
  const std::string& name = node.text();
  if (name.empty()) node.fail("a file name cannot be empty");
  std::error_code ignored;
  std::vector<std::string> places = {name};
  if (name[0] != '/' && !folder.empty()) {
    places.insert(node.location().line > 0 ? places.begin() : places.end(), folder + name);
  }
  std::string looked;
  for (const std::string& place : places) {
    if (std::filesystem::exists(place, ignored)) return place;
    looked += (looked.empty() ? "" : " and ") + quote(place);
  }
  node.fail("no such file; looked for " + looked + advice);
}

TraceSpec load_trace(const YamlNode& node, const LoadContext& context) {
  TraceSpec trace;
  if (node.is_scalar()) {
    trace.file = find_trace(node, context.folder);
    return trace;
  }
  MappingReader reader(node);
  trace.file = find_trace(reader.required("file"), context.folder);
  if (const auto format = reader.optional("format")) trace.format = load_format(*format);
  if (const auto unit = reader.optional("time_unit")) trace.time_unit = load_time_unit(*unit);
  if (const auto scale = reader.optional("rate_scale")) {
    trace.rate_scale = scale->number(0, 1e9);
    if (!(trace.rate_scale >= 1e-9)) scale->fail("must be above 0, got " + quote(scale->text()));
  }
  if (const auto window = reader.optional("time_window")) load_window(*window, trace);
  if (const auto filter = reader.optional("filter")) load_filter(*filter, trace);
  if (const auto limit = reader.optional("limit"); limit && !limit->is_word("none")) {
    trace.limit = static_cast<std::uint64_t>(limit->integer(1));
  }
  if (const auto bad = reader.optional("on_bad_row")) {
    trace.on_bad_row = static_cast<TraceSpec::BadRow>(bad->choice({"stop", "skip"}));
  }
  if (const auto spread = reader.optional("spread")) {
    trace.spread = static_cast<TraceSpec::Spread>(spread->choice({"none", "uniform"}));
  }
  if (const auto replay = reader.optional("replay")) {
    trace.replay = static_cast<TraceSpec::Replay>(replay->choice({"timestamps", "sessions"}));
    if (trace.replay == TraceSpec::Replay::kSessions && trace.spread == TraceSpec::Spread::kUniform)
      replay->fail("`spread: uniform` has no effect on a replay of sessions");
  }
  if (const auto block = reader.optional("block_tokens")) trace.block_tokens = block->integer(1, kMostTokens);
  if (const auto quantum = reader.optional("quantum")) {
    trace.quantum = read_above_zero(*quantum);
    if (trace.spread == TraceSpec::Spread::kNone) quantum->fail("has no effect without `spread: uniform`");
  }
  if (const auto reorder = reader.optional("reorder")) trace.reorder = read_seconds(*reorder);
  if (const auto gap = reader.optional("file_gap")) trace.file_gap = read_seconds(*gap);
  reader.finish();
  return trace;
}

}  // namespace poolcast
