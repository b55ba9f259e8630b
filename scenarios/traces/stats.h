// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/traces/length_counts.h"
#include "scenarios/traces/rate_windows.h"
#include "scenarios/traces/trace.h"

namespace poolcast {

/// A stretch between two rows.
struct TraceGap {
  double length_s = 0;
  double begin_s = 0;      ///< in trace time
  std::uint64_t line = 0;  ///< of the row after it
};

/// The gaps between successive rows.
struct GapStats {
  std::uint64_t count = 0;
  double mean_s = 0;
  double cv = 0;
  std::uint64_t zeros = 0;  ///< rows at the timestamp of the row before
  std::uint64_t first_zero_line = 0;
  std::uint64_t tiny = 0;         ///< above 0 and below 10 us
  TraceGap shortest;              ///< above 0
  std::vector<TraceGap> longest;  ///< the 64 longest, longest first
};

/// What a trace holds.
struct TraceStats {
  TraceFormat format = TraceFormat::kAuto;
  std::vector<std::string> notes;  ///< of the probe
  std::uint64_t rows = 0;
  std::uint64_t skipped_rows = 0;
  bool stopped_at_limit = false;
  double span_s = 0;  ///< first to last row
  GapStats gaps;
  double quantum_s = 0;  ///< largest power of ten, at most 1 s, that divides every timestamp; 0 = no two differ
  LengthCounts prompt, output;
  std::uint64_t sessions = 0, rows_with_session = 0;
  std::vector<std::pair<std::string, std::uint64_t>> models;  ///< rows by model, by name
  std::int64_t block_tokens = 0;                              ///< 0 = no prefix data
  std::uint64_t blocks = 0, prefix_hits = 0;
  RateWindows rates;

  double mean_rate_per_s() const { return span_s > 0 ? static_cast<double>(rows - 1) / span_s : 0; }
};

/// Reads the whole trace, within the spec's window, filters and limit; rate_scale counts. Memory grows with the number
/// of sessions and of different prompt blocks only.
TraceStats measure_trace(const TraceSpec& spec);

}  // namespace poolcast
