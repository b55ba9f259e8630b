// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

std::string length_text(const LengthSpec& length) {
  using Kind = LengthSpec::Kind;
  constexpr const char* kNames[] = {"fixed", "uniform", "exponential", "lognormal", "empirical"};
  std::string text = fmt::format("{{distribution: {}", kNames[static_cast<int>(length.kind)]);
  if (length.kind != Kind::kUniform && length.kind != Kind::kEmpirical) text += ", mean: " + number_text(length.mean);
  if (length.kind == Kind::kLognormal) text += ", cv: " + number_text(length.cv);
  text += fmt::format(", min: {}, max: {}", length.min, limit_text(length.max));
  if (length.kind == Kind::kEmpirical) {
    std::vector<std::string> rows;
    for (const auto& [tokens, weight] : length.table) rows.push_back(fmt::format("[{}, {}]", tokens, weight));
    text += ", table: " + flow_list(rows);
  }
  return text + "}";
}

std::string think_text(const ThinkSpec& think) {
  constexpr const char* kNames[] = {"fixed", "exponential", "lognormal"};
  std::string text =
      fmt::format("{{distribution: {}, mean: {}", kNames[static_cast<int>(think.kind)], to_text(think.mean));
  if (think.kind == ThinkSpec::Kind::kLognormal) text += ", cv: " + number_text(think.cv);
  return text + "}";
}

std::string arrivals_text(const ArrivalSpec& arrivals) {
  using Process = ArrivalSpec::Process;
  constexpr const char* kNames[] = {"poisson", "gamma", "deterministic", "on-off", "piecewise", "diurnal"};
  std::string text = fmt::format("{{process: {}", kNames[static_cast<int>(arrivals.process)]);
  if (arrivals.process != Process::kPiecewise) text += ", rate: " + rate_text(arrivals.rate_per_s);
  if (arrivals.process == Process::kGamma) text += ", cv: " + number_text(arrivals.cv);
  if (arrivals.process == Process::kOnOff) {
    text += fmt::format(", on: {}, off: {}", to_text(arrivals.on), to_text(arrivals.off));
  }
  if (arrivals.process == Process::kPiecewise) {
    std::vector<std::string> pieces;
    for (const auto& [from, rate] : arrivals.pieces) pieces.push_back(flow_list({to_text(from), rate_text(rate)}));
    text += ", pieces: " + flow_list(pieces);
  }
  if (arrivals.process == Process::kDiurnal) {
    text += fmt::format(", period: {}, amplitude: {}", to_text(arrivals.period), number_text(arrivals.amplitude));
  }
  return text + "}";
}

/// Name without folder, and size: what the digest knows of a trace.
std::string identity(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::uintmax_t size = 0;
  if (fs::is_directory(path, ignored)) {
    for (const auto& entry : fs::directory_iterator(path, ignored)) {
      if (entry.is_regular_file(ignored)) size += entry.file_size(ignored);
    }
  } else {
    size = fs::file_size(path, ignored);
  }
  const fs::path file = fs::path(path).lexically_normal();
  return fmt::format("{} {}", (file.has_filename() ? file : file.parent_path()).filename().string(), size);
}

void write_load(YamlWriter& yaml, const TraceSpec& trace, Resolve mode) {
  yaml.open("trace");
  yaml.text("file", mode == Resolve::kForDigest ? identity(trace.file) : trace.file);
  yaml.value("format", name(trace.format));
  if (trace.time_unit) yaml.value("time_unit", to_text(*trace.time_unit));
  yaml.value("rate_scale", number_text(trace.rate_scale));
  const bool open = trace.window_end == TraceSpec{}.window_end;
  yaml.value("time_window", flow_list({to_text(trace.window_begin), open ? "none" : to_text(trace.window_end)}));
  yaml.open("filter");
  yaml.value("prompt_tokens",
             flow_list({std::to_string(trace.min_prompt_tokens), limit_text(trace.max_prompt_tokens)}));
  yaml.value("output_tokens",
             flow_list({std::to_string(trace.min_output_tokens), limit_text(trace.max_output_tokens)}));
  if (!trace.model.empty()) yaml.text("model", trace.model);
  yaml.close();
  yaml.value("limit", trace.limit == 0 ? "none" : std::to_string(trace.limit));
  yaml.value("on_bad_row", trace.on_bad_row == TraceSpec::BadRow::kStop ? "stop" : "skip");
  yaml.value("spread", trace.spread == TraceSpec::Spread::kNone ? "none" : "uniform");
  yaml.value("replay", trace.replay == TraceSpec::Replay::kTimestamps ? "timestamps" : "sessions");
  if (trace.block_tokens) yaml.value("block_tokens", std::to_string(*trace.block_tokens));
  if (trace.quantum) yaml.value("quantum", to_text(*trace.quantum));
  yaml.value("reorder", to_text(trace.reorder));
  yaml.value("file_gap", to_text(trace.file_gap));
  yaml.close();
}

std::string shared_prefix_text(const SharedPrefixSpec& prefix) {
  if (prefix.groups == 0) return "none";
  return fmt::format("{{groups: {}, skew: {}, tokens: {}}}", prefix.groups, number_text(prefix.skew),
                     length_text(prefix.tokens));
}

void write_load(YamlWriter& yaml, const SynthSpec& synth, Resolve) {
  yaml.open("synth");
  if (synth.requests > 0) yaml.value("requests", std::to_string(synth.requests));
  yaml.value("duration", time_text(synth.duration));
  yaml.value("arrivals", arrivals_text(synth.arrivals));
  yaml.value("prompt_tokens", length_text(synth.prompt_tokens));
  yaml.value("output_tokens", length_text(synth.output_tokens));
  yaml.value("shared_prefix", shared_prefix_text(synth.shared_prefix));
  yaml.close();
}

void write_load(YamlWriter& yaml, const ClosedLoopSpec& loop, Resolve) {
  yaml.open("closed_loop");
  yaml.value("users", std::to_string(loop.users));
  if (loop.requests > 0) yaml.value("requests", std::to_string(loop.requests));
  yaml.value("duration", time_text(loop.duration));
  yaml.value("think_time", think_text(loop.think_time));
  yaml.value("ramp", time_text(loop.ramp));
  yaml.value("prompt_tokens", length_text(loop.prompt_tokens));
  yaml.value("output_tokens", length_text(loop.output_tokens));
  yaml.value("shared_prefix", shared_prefix_text(loop.shared_prefix));
  yaml.close();
}

void write_load(YamlWriter& yaml, const SessionsSpec& sessions, Resolve) {
  yaml.open("sessions");
  if (sessions.sessions > 0) yaml.value("sessions", std::to_string(sessions.sessions));
  yaml.value("duration", time_text(sessions.duration));
  yaml.value("arrivals", arrivals_text(sessions.arrivals));
  yaml.value("turns", length_text(sessions.turns));
  yaml.value("first_prompt_tokens", length_text(sessions.first_prompt_tokens));
  yaml.value("turn_tokens", length_text(sessions.turn_tokens));
  yaml.value("output_tokens", length_text(sessions.output_tokens));
  yaml.value("shared_prefix", shared_prefix_text(sessions.shared_prefix));
  yaml.value("think_time", think_text(sessions.think_time));
  yaml.value("max_context", limit_text(sessions.max_context));
  yaml.close();
}

}  // namespace

void write_workload_entry(YamlWriter& yaml, const WorkloadEntry& entry, Resolve mode) {
  yaml.open_item();
  yaml.text("model", entry.model);
  yaml.text("class", entry.cls);
  yaml.value("priority", std::to_string(entry.priority));
  yaml.value("max_concurrency", limit_text(entry.max_concurrency));
  std::visit([&](const auto& load) { write_load(yaml, load, mode); }, entry.load);
  yaml.close_item();
}

}  // namespace poolcast
