// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

enum Owner : std::size_t { kRouter, kEngine, kIndex };

/// Who owns the signal may be said, and must then be true.
void check_source(MappingReader& reader, Owner owner) {
  const std::vector<std::string_view> owners = {"router", "engine", "index"};
  const auto source = reader.optional("source");
  if (source && source->choice(owners) != owner) {
    source->fail(fmt::format("the source of this signal is the {}", owners[owner]));
  }
}

constexpr SimTime kShortestInterval = 100'000;
constexpr std::int64_t kMostUnderWay = 1000;

SimTime load_span(const YamlNode& node) { return to_sim_time(read_seconds(node)); }

SimTime load_interval(const YamlNode& node) {
  const SimTime interval = load_span(node);
  if (interval > 0 && interval < kShortestInterval)
    node.fail("engines are asked at most every 100 us, or 0 s: at once");
  return interval;
}

SimTime load_window(const YamlNode& node) {
  const SimTime window = load_span(node);
  if (window < kShortestInterval) node.fail("a window is 100 us at least");
  return window;
}

/// `signal` in what is not said. A metric over a window states that too.
MetricSignal load_metric(const YamlNode& node, MetricSignal signal, SimTime* window = nullptr) {
  if (node.is_scalar()) {
    signal.interval = load_interval(node);
    if (signal.instant()) signal.delay = 0;
    return signal;
  }
  MappingReader reader(node);
  check_source(reader, kEngine);
  if (window != nullptr) {
    if (const auto stated = reader.optional("window")) *window = load_window(*stated);
  }
  const auto interval = reader.optional("interval"), delay = reader.optional("delay");
  if (interval) signal.interval = load_interval(*interval);
  if (delay) signal.delay = load_span(*delay);
  if (const auto limit = reader.optional("staleness_threshold")) signal.stale_after = load_time_limit(*limit);
  if (const auto policy = reader.optional("stale_policy")) {
    signal.when_stale = static_cast<StalePolicy>(policy->choice({"use", "ignore", "saturated"}));
  }
  reader.finish();
  if (!signal.instant() && signal.delay / signal.interval > kMostUnderWay) {
    reader.node().fail("a delay is at most 1000 intervals");
  }
  if (!signal.instant() || signal.delay == 0) return signal;
  if (delay) reader.fail_at_key("delay", "a delay needs an interval at which engines are asked");
  signal.delay = 0;
  return signal;
}

void load_prefix(const YamlNode& node, SignalSpec& signals) {
  MappingReader reader(node);
  check_source(reader, kIndex);
  if (const auto delay = reader.optional("delay")) signals.prefix_delay = load_span(*delay);
  reader.not_modelled_yet({"interval", "staleness_threshold", "stale_policy"});
  reader.finish();
}

void load_in_flight(const YamlNode& node) {
  MappingReader reader(node);
  check_source(reader, kRouter);
  for (const char* key : {"interval", "delay", "staleness_threshold", "stale_policy"}) {
    if (reader.has(key)) reader.fail_at_key(key, "a router always knows what it has in flight");
  }
  reader.finish();
}

}  // namespace

SignalSpec load_signals(const YamlNode& node, const SignalSpec& otherwise) {
  SignalSpec signals = otherwise;
  MappingReader reader(node);
  if (const auto all = reader.optional("metrics")) {
    for (MetricSignal* metric : {&signals.waiting, &signals.running, &signals.kv_usage, &signals.busy}) {
      *metric = load_metric(*all, *metric);
    }
  }
  if (const auto one = reader.optional("waiting")) signals.waiting = load_metric(*one, signals.waiting);
  if (const auto one = reader.optional("running")) signals.running = load_metric(*one, signals.running);
  if (const auto one = reader.optional("kv_usage")) signals.kv_usage = load_metric(*one, signals.kv_usage);
  if (const auto one = reader.optional("busy")) signals.busy = load_metric(*one, signals.busy, &signals.busy_window);
  if (const auto prefix = reader.optional("prefix")) load_prefix(*prefix, signals);
  if (const auto in_flight = reader.optional("in_flight")) load_in_flight(*in_flight);
  reader.finish();
  return signals;
}

}  // namespace poolcast
