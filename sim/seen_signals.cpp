// SPDX-License-Identifier: Apache-2.0
#include "sim/seen_signals.h"

#include <algorithm>
#include <limits>

namespace poolcast {
namespace {

enum : std::size_t { kWaiting, kRunning, kKvUsage, kBusy };

}  // namespace

SeenSignals::SeenSignals(const SignalSpec& spec, const MetricSource& truth, std::uint32_t endpoints, bool reads_busy)
    : truth_(truth), metrics_(reads_busy ? 4 : 3), due_(endpoints, kNever) {
  const MetricSignal specs[] = {spec.waiting, spec.running, spec.kv_usage, spec.busy};
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    Metric& metric = metrics_[m];
    metric.spec = specs[m];
    if (metric.spec.instant()) {
      any_instant_ = true;
      continue;
    }
    // From the answer that is looked at to the one that was just asked for.
    metric.kept = metric.spec.delay / metric.spec.interval + 2;
    metric.answers.assign(endpoints * static_cast<std::size_t>(metric.kept), 0);
    metric.next.assign(endpoints, 0);
    metric.shown.assign(endpoints, 0);
    std::fill(due_.begin(), due_.end(), 0);
  }
}

void SeenSignals::ask(std::uint32_t endpoint, SimTime settled) {
  due_[endpoint] = kNever;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    Metric& metric = metrics_[m];
    if (metric.spec.instant()) continue;
    const std::int64_t last = settled / metric.spec.interval;
    std::int64_t& next = metric.next[endpoint];
    for (std::int64_t number = std::max(next, last - metric.kept + 1); number <= last; ++number) {
      metric.answers[static_cast<std::size_t>(endpoint * metric.kept + number % metric.kept)] =
          read(m, endpoint, number * metric.spec.interval);
    }
    next = std::max(next, last + 1);
    due_[endpoint] = std::min(due_[endpoint], next * metric.spec.interval);
  }
}

double SeenSignals::read(std::size_t which, std::uint32_t endpoint, SimTime at) const {
  if (which == kKvUsage) return truth_.kv_usage_at(endpoint, at);
  if (which == kBusy) return truth_.busy_at(endpoint, at);
  return static_cast<double>(which == kWaiting ? truth_.waiting(endpoint) : truth_.running(endpoint));
}

void SeenSignals::look(SimTime now) {
  age_ms_ = 0;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (!metrics_[m].spec.instant()) show(m, now);
  }
}

void SeenSignals::show(std::size_t which, SimTime now) {
  Metric& metric = metrics_[which];
  const MetricSignal& spec = metric.spec;
  const std::int64_t number = now < spec.delay ? kNothing : (now - spec.delay) / spec.interval;
  const SimTime age = number == kNothing ? kNever : now - spec.delay - number * spec.interval;
  const bool stale = age > spec.stale_after || number == kNothing;
  const bool ignored = number == kNothing || (stale && spec.when_stale == StalePolicy::kIgnore);
  age_ms_ = std::max(age_ms_, ignored ? std::numeric_limits<double>::infinity() : static_cast<double>(age) / 1e6);
  if (number == metric.shown_number && stale == metric.shown_stale) return;
  ++version_;
  metric.shown_number = number;
  metric.shown_stale = stale;
  for (std::uint32_t e = 0; e < due_.size(); ++e) {
    before_change(e, now);
    double& shown = metric.shown[e];
    if (stale && spec.when_stale == StalePolicy::kSaturated) {
      shown = which == kKvUsage || which == kBusy ? 1 : kFull;
    } else if (ignored) {
      shown = 0;
    } else {
      shown = metric.answers[static_cast<std::size_t>(e * metric.kept + number % metric.kept)];
    }
  }
}

std::int64_t SeenSignals::waiting(std::uint32_t index) const {
  const Metric& metric = metrics_[kWaiting];
  return metric.spec.instant() ? truth_.waiting(index) : static_cast<std::int64_t>(metric.shown[index]);
}

std::int64_t SeenSignals::running(std::uint32_t index) const {
  const Metric& metric = metrics_[kRunning];
  return metric.spec.instant() ? truth_.running(index) : static_cast<std::int64_t>(metric.shown[index]);
}

double SeenSignals::kv_usage(std::uint32_t index) const {
  const Metric& metric = metrics_[kKvUsage];
  return metric.spec.instant() ? truth_.kv_usage(index) : metric.shown[index];
}

double SeenSignals::busy(std::uint32_t index) const {
  if (metrics_.size() <= kBusy) return 0;
  const Metric& metric = metrics_[kBusy];
  return metric.spec.instant() ? truth_.busy(index) : metric.shown[index];
}

KvReading SeenSignals::read_kv(std::uint32_t index) const {
  const Metric& metric = metrics_[kKvUsage];
  return metric.spec.instant() ? truth_.read_kv(index) : KvReading{metric.shown[index], kNever};
}

SimTime SeenSignals::next_arrival(SimTime now) const {
  SimTime next = kNever;
  for (const Metric& metric : metrics_) {
    if (metric.spec.instant()) continue;
    const SimTime since = now - metric.spec.delay;
    const std::int64_t number = since < 0 ? 0 : since / metric.spec.interval + 1;
    next = std::min(next, number * metric.spec.interval + metric.spec.delay);
  }
  return next;
}

}  // namespace poolcast
