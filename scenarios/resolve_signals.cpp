// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

std::string metric_text(const MetricSignal& signal) {
  constexpr const char* kPolicies[] = {"use", "ignore", "saturated"};
  return fmt::format("{{source: engine, interval: {}, delay: {}, staleness_threshold: {}, stale_policy: {}}}",
                     time_text(signal.interval), time_text(signal.delay), time_text(signal.stale_after),
                     kPolicies[static_cast<std::size_t>(signal.when_stale)]);
}

}  // namespace

std::string signals_text(const SignalSpec& signals) {
  return fmt::format(
      "{{waiting: {}, running: {}, kv_usage: {}, prefix: {{source: index, delay: {}}}, in_flight: {{source: router}}}}",
      metric_text(signals.waiting), metric_text(signals.running), metric_text(signals.kv_usage),
      time_text(signals.prefix_delay));
}

}  // namespace poolcast
