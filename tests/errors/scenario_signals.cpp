// SPDX-License-Identifier: Apache-2.0
// The section routing.signals.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

namespace {

std::string signals_fault(const std::string& text) { return fault("measure:", "  signals: " + text + "\nmeasure:"); }

}  // namespace

TEST_CASE("a signal has an owner that cannot be another") {
  CHECK(signals_fault("{metrics: {source: router, interval: 1 s}}") ==
        R"(s.yaml:36:31: routing.signals.metrics.source: the source of this signal is the engine
  signals: {metrics: {source: router, interval: 1 s}}
                              ^)");
}

TEST_CASE("a window of busy time is a time, not nothing, and of no other metric") {
  CHECK(signals_fault("{busy: {window: 10 us}}") ==
        R"(s.yaml:36:28: routing.signals.busy.window: a window is 100 us at least
  signals: {busy: {window: 10 us}}
                           ^)");
  CHECK(signals_fault("{busy: {window: 10}}") ==
        R"(s.yaml:36:28: routing.signals.busy.window: expected a duration with its unit, such as "400 ms", got "10"
  signals: {busy: {window: 10}}
                           ^)");
  CHECK(signals_fault("{waiting: {window: 10 s}}") ==
        R"(s.yaml:36:23: routing.signals.waiting.window: unknown key
  signals: {waiting: {window: 10 s}}
                      ^ one of delay, interval, source, stale_policy, staleness_threshold)");
}

TEST_CASE("a delay needs an interval") {
  CHECK(signals_fault("{waiting: {delay: 1 ms}}") ==
        R"(s.yaml:36:23: routing.signals.waiting.delay: a delay needs an interval at which engines are asked
  signals: {waiting: {delay: 1 ms}}
                      ^)");
}

TEST_CASE("engines are not asked without end, nor are answers under way without number") {
  CHECK(signals_fault("{metrics: 1 ns}") ==
        R"(s.yaml:36:22: routing.signals.metrics: engines are asked at most every 100 us, or 0 s: at once
  signals: {metrics: 1 ns}
                     ^)");
  CHECK(signals_fault("{waiting: {interval: 1 ms, delay: 1 h}}") ==
        R"(s.yaml:36:22: routing.signals.waiting: a delay is at most 1000 intervals
  signals: {waiting: {interval: 1 ms, delay: 1 h}}
                     ^)");
}

TEST_CASE("what a router has in flight is never late") {
  CHECK(signals_fault("{in_flight: {source: router, delay: 1 ms}}") ==
        R"(s.yaml:36:41: routing.signals.in_flight.delay: a router always knows what it has in flight
  signals: {in_flight: {source: router, delay: 1 ms}}
                                        ^)");
}

TEST_CASE("an unknown signal or rule names the nearest") {
  CHECK(signals_fault("{kv_use: 1 s}") ==
        R"(s.yaml:36:13: routing.signals.kv_use: unknown key
  signals: {kv_use: 1 s}
            ^ did you mean "kv_usage"?)");
  CHECK(signals_fault("{metrics: {interval: 1 s, stale_policy: ignored}}") ==
        R"(s.yaml:36:52: routing.signals.metrics.stale_policy: unknown value "ignored"
  signals: {metrics: {interval: 1 s, stale_policy: ignored}}
                                                   ^ did you mean "ignore"?)");
}
