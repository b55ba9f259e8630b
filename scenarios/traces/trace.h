// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/units.h"
#include "sim/ids.h"
#include "sim/source.h"
#include "sim/time.h"

/// Request traces: formats, readers, and the source that replays one. A trace is never held in memory, except by a
/// replay of sessions, which keeps the times and lengths of the rows, and by coding-agent sessions, whose files are
/// parsed whole.
namespace poolcast {

enum class TraceFormat { kAuto, kAzure, kMooncake, kBurstGpt, kAgentic, kServeGen, kCsv, kJsonl, kHdf5 };

/// One row of a trace, whatever its format.
struct TraceRow {
  std::uint64_t line = 0;  ///< line (text formats) or ordinal of the row, from 1
  Seconds timestamp{0};    ///< since the first row, before rate_scale
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int32_t priority = 0;
  std::uint64_t session = UINT64_MAX;
  Seconds think_time{-1};               ///< after the end of the session's last turn; negative when not known
  std::vector<std::uint64_t> hash_ids;  ///< prompt blocks of `block_tokens`, where the format has them
  std::string model;                    ///< as the trace names it; may be empty
  bool has_priority = false;            ///< the trace states one; else the class's priority holds
  /// First row of a sub-agent: it begins `think_time` after the end of the last earlier turn of this session.
  std::uint64_t after_session = UINT64_MAX;
};

/// How a trace file is read and replayed: the key `trace` of a workload entry.
struct TraceSpec {
  std::string file;
  TraceFormat format = TraceFormat::kAuto;
  std::optional<Seconds> time_unit;  ///< of numeric timestamps; Mooncake-style JSONL leaves it open and needs it
  double rate_scale = 1;             ///< 2 = twice as fast: gaps are divided by it
  Seconds window_begin{0};           ///< time_window, in trace time before rate_scale
  Seconds window_end{1e300};
  std::int64_t min_prompt_tokens = 0;  ///< filters: rows outside are left out
  std::int64_t max_prompt_tokens = INT64_MAX;
  std::int64_t min_output_tokens = 0;
  std::int64_t max_output_tokens = INT64_MAX;
  std::string model;        ///< filter: only rows of this model
  std::uint64_t limit = 0;  ///< at most so many rows; 0 = all
  enum class BadRow { kStop, kSkip } on_bad_row = BadRow::kStop;
  enum class Spread { kNone, kUniform } spread = Spread::kNone;  ///< of quantised timestamps within their quantum
  enum class Replay { kTimestamps, kSessions } replay = Replay::kTimestamps;  ///< sessions: by think_time (closed)

  std::optional<std::int64_t> block_tokens;  ///< of hash_ids; nothing: the one that fits the first rows
  std::optional<Seconds> quantum;            ///< of timestamps, for `spread`; nothing: the one of the first rows
  /// Rows may be out of order by this much and are put in order; further out is a bad row. Rows within this time are
  /// held in memory.
  Seconds reorder{0};
  Seconds file_gap{0};  ///< a folder of sessions: file k begins k * file_gap after the first; 0 = all at once

  /// Not in a scenario: takes the time unit that gives a plausible rate when it is open (`poolcast trace`).
  bool guess_time_unit = false;
  /// Not in a scenario: feeds what a reader draws (ServeGen). make_trace_source sets both.
  std::uint64_t seed = 0;
  std::string stream_name = "trace";
};

/// Reads rows in file order. Throws ConfigError with file and line on a row that cannot be used unless told to skip.
class TraceReader {
 public:
  virtual ~TraceReader() = default;
  virtual bool next(TraceRow& row) = 0;
  virtual std::int64_t block_tokens() const { return 0; }  ///< of hash_ids; 0 = no prefix data
  virtual double progress() const { return -1; }
  virtual std::uint64_t skipped_rows() const { return 0; }  ///< so far, as `on_bad_row: skip` allows
};

/// What the head of a trace says about it, in sentences for the reader of a run ("format azure, from its header").
struct TraceProbe {
  TraceFormat format = TraceFormat::kAuto;
  std::optional<Seconds> time_unit;  ///< stated, or guessed where that is allowed
  std::int64_t block_tokens = 0;     ///< 0 = no prefix data
  std::optional<Seconds> quantum;    ///< largest power of ten (at most 1 s) that divides the first timestamps
  std::vector<std::string> notes;
};

/// Reads the head of the file only. Throws ConfigError when the format cannot be told, or when the time unit is open
/// and may not be guessed; FileError when the file cannot be read.
TraceProbe probe_trace(const TraceSpec& spec);

/// Detects the format when it is kAuto; what was detected is in `detected`.
std::unique_ptr<TraceReader> open_trace(const TraceSpec& spec, TraceFormat* detected = nullptr);

/// The source that replays a trace with its filters, window, scale and spread. `seed` feeds the spread and ServeGen.
/// The first row of the file, or of the window, comes at 0. `row` counts the usable rows of the file from 0, those that
/// filters leave out included.
std::unique_ptr<Source> make_trace_source(const TraceSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                                          const std::string& stream_name);

const char* name(TraceFormat format);

}  // namespace poolcast
