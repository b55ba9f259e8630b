// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

/// `first` stands before the rest of the mapping.
std::string metric_text(const MetricSignal& signal, const std::string& first = {}) {
  constexpr const char* kPolicies[] = {"use", "ignore", "saturated"};
  return fmt::format("{{source: engine, {}interval: {}, delay: {}, staleness_threshold: {}, stale_policy: {}}}", first,
                     time_text(signal.interval), time_text(signal.delay), time_text(signal.stale_after),
                     kPolicies[static_cast<std::size_t>(signal.when_stale)]);
}

}  // namespace

std::string signals_text(const SignalSpec& signals, bool reads_busy) {
  const std::string window = fmt::format("window: {}, ", time_text(signals.busy_window));
  const std::string busy = reads_busy ? fmt::format("busy: {}, ", metric_text(signals.busy, window)) : "";
  return fmt::format(
      "{{waiting: {}, running: {}, kv_usage: {}, {}prefix: {{source: index, delay: {}}}, in_flight: {{source: "
      "router}}}}",
      metric_text(signals.waiting), metric_text(signals.running), metric_text(signals.kv_usage), busy,
      time_text(signals.prefix_delay));
}

}  // namespace poolcast
