// SPDX-License-Identifier: Apache-2.0
#include "sim/seen_signals.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace poolcast;

namespace {

constexpr SimTime kMs = 1'000'000;

/// One endpoint whose KV use grows by 0.01 a millisecond while it is left alone.
struct Truth : MetricSource {
  std::int64_t queue = 0;
  SimTime now = 0;
  std::int64_t waiting(std::uint32_t) const override { return queue; }
  std::int64_t running(std::uint32_t) const override { return 10 * queue; }
  double kv_usage(std::uint32_t index) const override { return kv_usage_at(index, now); }
  double kv_usage_at(std::uint32_t, SimTime at) const override { return 0.01 * static_cast<double>(at) / 1e6; }
};

SignalSpec every(SimTime interval, SimTime delay = 0) {
  SignalSpec spec;
  for (MetricSignal* metric : {&spec.waiting, &spec.running, &spec.kv_usage}) {
    metric->interval = interval;
    metric->delay = delay;
  }
  return spec;
}

}  // namespace

TEST_CASE("a router sees what an engine said when it was last asked") {
  Truth truth;
  SeenSignals seen(every(50 * kMs), truth, 1);
  const auto change = [&](SimTime at, std::int64_t queue) {
    seen.before_change(0, at);
    truth.queue = queue;
  };
  change(0, 3);  // asked at 0 before that
  seen.look(0);
  CHECK(seen.waiting(0) == 0);
  change(20 * kMs, 4);
  change(50 * kMs, 5);  // asked at 50 before that
  change(70 * kMs, 6);
  seen.look(70 * kMs);
  CHECK(seen.waiting(0) == 4);
  CHECK(seen.running(0) == 40);
  CHECK(seen.kv_usage(0) == Approx(0.5));
  CHECK(seen.age_ms() == 20);
  CHECK(seen.next_arrival(70 * kMs) == 100 * kMs);
  const std::uint64_t version = seen.version();
  seen.look(99 * kMs);
  CHECK(seen.version() == version);
  seen.look(1234 * kMs);
  CHECK(seen.version() != version);
  CHECK(seen.waiting(0) == 6);
  CHECK(seen.kv_usage(0) == Approx(12.0));
}

TEST_CASE("steps that end when engines are asked have ended before") {
  Truth truth;
  SeenSignals seen(every(50 * kMs), truth, 1);
  seen.before_change(0, 50 * kMs - 1);  // a step ends at 50
  truth.queue = 9;
  seen.look(50 * kMs);
  CHECK(seen.waiting(0) == 9);
}

TEST_CASE("an answer is known after its delay, however many are under way") {
  Truth truth;
  SeenSignals seen(every(10 * kMs, 35 * kMs), truth, 1);
  for (SimTime ms = 1; ms < 200; ms += 2) {  // between two instants of asking the queue is ms / 10
    seen.before_change(0, ms * kMs);
    truth.queue = ms / 10;
    if (ms < 35) {
      seen.look(ms * kMs);
      CHECK(seen.waiting(0) == 0);
      CHECK(std::isinf(seen.age_ms()));
      continue;
    }
    if (ms % 7 != 0) continue;  // looks are rare
    seen.look(ms * kMs);
    const SimTime asked = (ms - 35) / 10 * 10;
    CHECK(seen.waiting(0) == std::max<SimTime>(0, asked - 1) / 10);
    CHECK(seen.kv_usage(0) == Approx(0.01 * static_cast<double>(asked)));
    CHECK(seen.age_ms() == static_cast<double>(ms - 35 - asked));
  }
  CHECK(seen.next_arrival(0) == 35 * kMs);
  CHECK(seen.next_arrival(35 * kMs) == 45 * kMs);
}

TEST_CASE("a stale metric counts by its rule") {
  Truth truth;
  truth.queue = 2;
  SignalSpec spec = every(1000 * kMs);
  spec.waiting.stale_after = spec.kv_usage.stale_after = 200 * kMs;
  spec.waiting.when_stale = StalePolicy::kIgnore;
  spec.kv_usage.when_stale = StalePolicy::kSaturated;
  SeenSignals seen(spec, truth, 1);
  seen.look(1200 * kMs);
  CHECK(seen.waiting(0) == 2);
  CHECK(seen.kv_usage(0) == Approx(10.0));
  CHECK(seen.age_ms() == 200);
  seen.look(1200 * kMs + 1);
  CHECK(seen.waiting(0) == 0);
  CHECK(seen.running(0) == 20);
  CHECK(seen.kv_usage(0) == 1);
  CHECK(std::isinf(seen.age_ms()));
  seen.look(2000 * kMs);
  CHECK(seen.waiting(0) == 2);
}

TEST_CASE("a metric that is known at once stands beside one that is not") {
  Truth truth;
  SignalSpec spec;
  spec.kv_usage.interval = 100 * kMs;
  SeenSignals seen(spec, truth, 1);
  CHECK(seen.any_instant());
  seen.look(150 * kMs);
  seen.before_change(0, 150 * kMs);
  truth.queue = 7;
  CHECK(seen.waiting(0) == 7);
  CHECK(seen.kv_usage(0) == Approx(1.0));
}
