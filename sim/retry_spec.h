// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "sim/reason_set.h"
#include "sim/time.h"

namespace poolcast {

/// How a client sends a request again that did not complete. The n-th time it waits
/// min(backoff * factor^(n-1), longest), times a factor drawn evenly from [1 - jitter, 1 + jitter).
/// Defaults: those of smg (50 ms to 30 s, x 1.5, jitter 0.2); the budget's form is that of Finagle and Linkerd.
struct RetrySpec {
  std::int32_t max = 0;  ///< times that one request is sent again; 0: never
  SimTime backoff = 50'000'000;
  double factor = 1.5;
  SimTime longest = 30 * kNanosPerSecond;
  double jitter = 0.2;
  /// A retry is sent only while the retries of the last `window`, itself included, are at most this share of the
  /// requests first sent in it (both of its class).
  double budget = std::numeric_limits<double>::infinity();
  SimTime window = 10 * kNanosPerSecond;
  ReasonSet reasons = kTransient;

  bool operator==(const RetrySpec&) const = default;

  /// What another try can mend.
  static constexpr ReasonSet kTransient = {Reason::kQueueFull,     Reason::kQueueTimeout, Reason::kSaturated,
                                           Reason::kStalled,       Reason::kTimeout,      Reason::kCoolingDown,
                                           Reason::kFlowQueueFull, Reason::kFlowExpired};
};

}  // namespace poolcast
