// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "scenarios/traces/trace.h"
#include "scenarios/traces/trace_log.h"

/// One maker per format. A reader yields rows in file order with the timestamps of the file and reports what it meets
/// to `log`, which outlives it. Each throws FileError when the file cannot be read and ConfigError when its head is
/// wrong for the format. `spec.format`, `spec.time_unit` and `spec.block_tokens` are resolved (see probe.h).
namespace poolcast {

std::unique_ptr<TraceReader> open_azure(const TraceSpec& spec, TraceLog& log);
std::unique_ptr<TraceReader> open_burstgpt(const TraceSpec& spec, TraceLog& log);
std::unique_ptr<TraceReader> open_csv(const TraceSpec& spec, TraceLog& log);
std::unique_ptr<TraceReader> open_jsonl(const TraceSpec& spec, TraceLog& log);  ///< Mooncake, Qwen, poolcast's own
std::unique_ptr<TraceReader> open_agentic(const TraceSpec& spec, TraceLog& log);
std::unique_ptr<TraceReader> open_servegen(const TraceSpec& spec, TraceLog& log);
std::unique_ptr<TraceReader> open_hdf5(const TraceSpec& spec, TraceLog& log);

/// Any of them, put in order and starting at 0, for a resolved spec.
std::unique_ptr<TraceReader> open_resolved(const TraceSpec& spec, std::shared_ptr<TraceLog> log);

}  // namespace poolcast
