// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenarios/traces/trace.h"

namespace poolcast {

/// The format of a file or folder, by its content, and why. Throws ConfigError when it cannot be told.
struct DetectedFormat {
  TraceFormat format = TraceFormat::kAuto;
  std::string why;  ///< "its header", "names like chunk-0-trace.csv"
};
DetectedFormat detect_format(const std::string& path);

/// What the first rows of a JSONL trace say.
struct JsonlHead {
  std::uint64_t rows = 0;
  double span = 0;            ///< of the numeric timestamps, in their unknown unit; 0 when their names state it
  bool time_is_open = false;  ///< numeric timestamps whose name states no unit
  bool time_is_whole = true;
  bool has_hash_ids = false;
  bool has_chats = false;
  std::int64_t block_tokens = 0;  ///< stated, or the size that fits; 0 = none
  std::string block_note;         ///< how it was found
};
JsonlHead read_jsonl_head(const std::string& path);

/// Fills in what a spec leaves to detection: format, time unit, block size. Throws ConfigError on a key that has no
/// effect on the format.
TraceSpec resolve_trace(const TraceSpec& spec, std::vector<std::string>& notes);

/// The largest power of ten from 1 ns to 1 s that divides the first timestamps; nothing when there are fewer than two
/// different ones.
std::optional<Seconds> find_quantum(const TraceSpec& spec);

/// Mean rates outside of this are taken for a wrong time unit.
inline constexpr double kLowestPlausibleRate = 1e-3, kHighestPlausibleRate = 1e5;  // requests/s

}  // namespace poolcast
