// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/time.h"

namespace poolcast {

/// What a metric means once it is stale.
enum class StalePolicy : std::uint8_t {
  kUse,        ///< what it says
  kIgnore,     ///< nothing: 0, as of an endpoint that was never asked
  kSaturated,  ///< an endpoint that is full
};

/// How a router comes to know one metric of the engines of a pool. They are asked together, at the multiples of
/// `interval` counted from the start of the run: after the steps that end at that instant, before its arrivals.
struct MetricSignal {
  SimTime interval = 0;          ///< 0: it is always known as it stands
  SimTime delay = 0;             ///< from asking to knowing; 0 where the interval is
  SimTime stale_after = kNever;  ///< this long after it was known it is stale
  StalePolicy when_stale = StalePolicy::kUse;

  bool instant() const { return interval == 0; }
  bool operator==(const MetricSignal&) const = default;
};

/// What the router of a pool knows, and when. What it has in flight it always knows.
struct SignalSpec {
  MetricSignal waiting, running, kv_usage;
  /// Until a prompt that was sent to a replica counts as lying there; of an exact index from an engine's telling to
  /// knowing.
  SimTime prefix_delay = 0;
  MetricSignal busy{};
  SimTime busy_window = 60 * kNanosPerSecond;  ///< over which an engine's share of busy time is taken

  /// Without `busy`, which only few read.
  bool instant() const { return waiting.instant() && running.instant() && kv_usage.instant(); }
  bool operator==(const SignalSpec&) const = default;
};

}  // namespace poolcast
