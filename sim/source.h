// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/content.h"
#include "sim/ids.h"
#include "sim/request.h"
#include "sim/time.h"

namespace poolcast {

/// One request as its user brings it.
struct Arrival {
  SimTime intended = 0;  ///< when the user wanted to send it
  ClassId cls;           ///< its class, and so its model and objectives
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;      ///< tokens that it will produce; >= 1
  std::int32_t priority = 0;           ///< smaller is more urgent (vLLM's convention)
  std::uint64_t row = 0;               ///< ordinal in its source, from 0; the source says what it counts
  std::uint64_t session = UINT64_MAX;  ///< user or session, where the source has them
  Content content;                     ///< what its tokens are, where the source knows
};

/// Brings requests in order of time. The simulator holds one pending arrival per source, so a trace is streamed.
///
/// Contract: `peek` never goes back in time; a source with feedback may answer `kNever` while every user waits for an
/// answer, and its answer may change only inside `pop` and `finished`. Errors (a bad row that may not be skipped) are
/// thrown as exceptions derived from std::runtime_error.
class Source {
 public:
  virtual ~Source() = default;

  /// Instant of the next arrival, or kNever.
  virtual SimTime peek() = 0;
  /// Takes the next arrival. Only called when `peek` is not kNever.
  virtual Arrival pop() = 0;

  /// Whether `finished` must be called for the requests of this source (closed loops, sessions).
  virtual bool wants_feedback() const { return false; }
  /// Tells that a request of this source has ended, at `record.ended`.
  virtual void finished(const RequestRecord& record) { (void)record; }

  /// Whether requests carry the identity of their prompt blocks; without it a prefix cache cannot be judged.
  virtual bool has_prefix_data() const { return false; }
  /// Requests that were never sent because the one that they follow did not complete. Told when the source is empty.
  virtual std::uint64_t unsent() const { return 0; }
  /// Rows that could not be used and were skipped as the scenario allows.
  virtual std::uint64_t skipped_rows() const { return 0; }
  /// Share of the input consumed in [0, 1] for a progress display, or a negative number when unknown.
  virtual double progress() const { return -1; }
};

}  // namespace poolcast
