// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/trace.h"

#include <cstdlib>
#include <utility>

#include "scenarios/traces/ordered_reader.h"
#include "scenarios/traces/probe.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/replay_sources.h"

namespace poolcast {
namespace {

std::unique_ptr<TraceReader> open_format(const TraceSpec& spec, TraceLog& log) {
  switch (spec.format) {
    case TraceFormat::kAzure:
      return open_azure(spec, log);
    case TraceFormat::kMooncake:
    case TraceFormat::kJsonl:
      return open_jsonl(spec, log);
    case TraceFormat::kBurstGpt:
      return open_burstgpt(spec, log);
    case TraceFormat::kAgentic:
      return open_agentic(spec, log);
    case TraceFormat::kServeGen:
      return open_servegen(spec, log);
    case TraceFormat::kCsv:
      return open_csv(spec, log);
    case TraceFormat::kHdf5:
      return open_hdf5(spec, log);
    case TraceFormat::kAuto:
      break;
  }
  std::abort();  // resolve_trace leaves no kAuto
}

}  // namespace

const char* name(TraceFormat format) {
  switch (format) {
    case TraceFormat::kAuto:
      return "auto";
    case TraceFormat::kAzure:
      return "azure";
    case TraceFormat::kMooncake:
      return "mooncake";
    case TraceFormat::kBurstGpt:
      return "burstgpt";
    case TraceFormat::kAgentic:
      return "agentic";
    case TraceFormat::kServeGen:
      return "servegen";
    case TraceFormat::kCsv:
      return "csv";
    case TraceFormat::kJsonl:
      return "jsonl";
    case TraceFormat::kHdf5:
      return "hdf5";
  }
  return "?";
}

std::unique_ptr<TraceReader> open_resolved(const TraceSpec& spec, std::shared_ptr<TraceLog> log) {
  auto reader = open_format(spec, *log);
  const bool rebase = spec.format != TraceFormat::kServeGen;  // its window may leave the first rows undrawn
  return std::make_unique<OrderedReader>(std::move(log), std::move(reader), spec.reorder, rebase);
}

std::unique_ptr<TraceReader> open_trace(const TraceSpec& spec, TraceFormat* detected) {
  std::vector<std::string> notes;
  const TraceSpec resolved = resolve_trace(spec, notes);
  if (detected != nullptr) *detected = resolved.format;
  return open_resolved(resolved, std::make_shared<TraceLog>(spec.file, spec.on_bad_row));
}

std::unique_ptr<Source> make_trace_source(const TraceSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                                          const std::string& stream_name) {
  TraceSpec seeded = spec;
  seeded.seed = seed;
  seeded.stream_name = stream_name;
  std::vector<std::string> notes;
  const TraceSpec resolved = resolve_trace(seeded, notes);
  ReplayOptions options{cls, priority, seed, stream_name, spec.file, Seconds(0)};
  if (spec.spread == TraceSpec::Spread::kUniform) {
    const auto quantum = spec.quantum ? spec.quantum : find_quantum(resolved);
    options.quantum = quantum.value_or(Seconds(0)) / spec.rate_scale;
  }
  Selection rows(resolved, open_resolved(resolved, std::make_shared<TraceLog>(spec.file, spec.on_bad_row)));
  return spec.replay == TraceSpec::Replay::kSessions ? make_session_source(std::move(rows), options)
                                                     : make_timestamp_source(std::move(rows), options);
}

}  // namespace poolcast
