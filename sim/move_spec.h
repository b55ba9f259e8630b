// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ids.h"
#include "sim/metric.h"
#include "sim/time.h"

/// A move of traffic from one pool to another in steps, each with gates to pass. `Moves` carries it out.
namespace poolcast {

struct MoveStep {
  double share = 0;    ///< of the traffic, in [0, 1]
  SimTime length = 0;  ///< how long it stays so
};

/// One thing that is judged of the requests that moved.
struct MoveGate {
  enum class What : std::uint8_t {
    kLatency,    ///< a percentile at most `limit` seconds, or `limit` times that of the requests that stayed
    kErrorRate,  ///< share of the requests that ended without completing: at most `limit`
    kEligible,   ///< share of the requests chosen to move that the new pool could take: at least `limit`
  };
  What what = What::kLatency;
  Metric metric = Metric::kTtft;
  double percentile = 99;
  double limit = 0;
  bool relative = false;
};

/// Who moves together. A session with a place below the share moves; its place is a hash that never changes, so that it
/// moves once as the share grows and goes back only when it shrinks.
enum class Sticky : std::uint8_t { kSession, kRequest };

struct MoveSpec {
  PoolId from, to;
  ClassId cls;  ///< not valid: every class
  SimTime start = 0;
  std::vector<MoveStep> steps;      ///< rising; when the last one has passed, its share stays
  std::vector<MoveStep> roll_back;  ///< falling, the last one 0; those not below the share at that time are left out
  std::vector<MoveGate> gates;      ///< all must pass at the end of a step, else the move rolls back
  std::vector<MoveGate> abort;      ///< one that fails at the end of an interval rolls the move back at once
  SimTime every = 60 * kNanosPerSecond;   ///< the interval of `abort`, from the beginning of a step
  std::uint64_t min_requests = 20;        ///< with fewer a gate does not pass, and an abort threshold does not fail
  SimTime rewarm = 60 * kNanosPerSecond;  ///< the first part of a step, whose cache hits are told apart
  Sticky sticky = Sticky::kSession;
  bool qualified = true;  ///< its implementation passed its evaluation; else the move does not begin
};

}  // namespace poolcast
