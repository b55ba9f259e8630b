// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/traces/trace.h"
#include "scenarios/traces/trace_log.h"

namespace poolcast {

/// One kind of oddity in a trace.
struct LintFinding {
  Oddity oddity = Oddity::kBadValue;
  std::uint64_t count = 0;
  std::vector<TraceLog::Example> examples;  ///< the first few
};

struct LintReport {
  TraceFormat format = TraceFormat::kAuto;
  std::vector<std::string> notes;     ///< of the probe
  std::uint64_t rows = 0;             ///< usable ones (ServeGen: intervals)
  std::vector<LintFinding> findings;  ///< faults first, in the order of Oddity
  /// No row is at fault, or those at fault may be skipped and others are left.
  bool usable = true;
};

/// Reads the whole trace and reports all that is odd about it, without stopping at a bad row. Throws FileError when the
/// file is not there and ConfigError when its format or time unit cannot be told.
LintReport lint_trace(const TraceSpec& spec);

}  // namespace poolcast
