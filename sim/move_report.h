// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/cell.h"
#include "sim/move_spec.h"

/// What became of a move of traffic.
namespace poolcast {

/// Prompt tokens of requests that were scheduled, where the workload says what its prompts share.
struct Warmth {
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;  ///< found in a prefix cache
  std::int64_t ideal_tokens = 0;   ///< that an endless cache shared by all would have found
};

/// Requests intended within one step, counted to their ends, warm-up included.
struct MoveArm {
  Cell cell;
  Warmth all, first;  ///< first: of those intended within `rewarm` of the beginning of the step
};

struct GateResult {
  enum class Verdict : std::uint8_t { kPassed, kFailed, kTooFew };
  MoveGate gate;
  Verdict verdict = Verdict::kTooFew;
  std::optional<double> value;  ///< seconds or a share, as known at that instant; empty: without end, or no request
  std::optional<double> limit;  ///< in the same unit; empty where nobody stayed to compare with
  std::uint64_t requests = 0;   ///< that it was judged on
};

/// A stretch of time with one share. The first is that before the move, with share 0 and nobody moved.
struct MoveStepReport {
  enum class Kind : std::uint8_t { kBefore, kForward, kHeld, kBack };
  enum class End : std::uint8_t { kPassed, kFailed, kAborted, kRunEnded, kNoGate };
  Kind kind = Kind::kBefore;
  double share = 0;
  SimTime begin = 0, end = 0;
  End ended = End::kRunEnded;
  MoveArm moved, stayed;                          ///< stayed: not chosen to move, though the new pool could take them
  std::uint64_t chosen = 0;                       ///< to move, by their place below the share
  std::uint64_t not_taken = 0;                    ///< of those, that the new pool could not take; they stayed
  std::array<std::uint64_t, kReasons> reasons{};  ///< why, by Reason
  std::vector<GateResult> gates;                  ///< as judged at its end
};

struct MoveReport {
  enum class Outcome : std::uint8_t { kCompleted, kRolledBack, kRunEnded, kNotQualified };
  Outcome outcome = Outcome::kRunEnded;
  std::vector<MoveStepReport> steps;  ///< in order of time
  SimTime decided = kNever;           ///< when it was completed, began to roll back, or did not begin
  std::vector<GateResult> causes;     ///< what the roll-back was for
};

}  // namespace poolcast
