// SPDX-License-Identifier: Apache-2.0
// Batches of Triton worked out by hand from its rules. Microseconds; a batch takes 1000 unless a case says otherwise.
#include <catch2/catch.hpp>

#include "tests/support/triton_run.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kUs = 1000;
using Requests = std::vector<std::size_t>;

std::vector<TritonArrival> at(const std::vector<SimTime>& times) {
  std::vector<TritonArrival> arrivals;
  for (const SimTime t : times) arrivals.push_back({t * kUs, 0});
  return arrivals;
}

/// "0: 0 | 1000: 1 2 | 1500: -3": who starts when; refused requests have a minus.
std::string told(const TritonArgs& args, const std::vector<TritonArrival>& arrivals, SimTime exec_us = 1000) {
  std::string text;
  for (const TritonLine& line : run_triton(args, arrivals, [&](std::size_t) { return exec_us * kUs; })) {
    if (!text.empty()) text += " | ";
    text += std::to_string(line.at / kUs) + ":";
    for (const std::size_t r : line.requests) text += (line.end == kNever ? " -" : " ") + std::to_string(r);
  }
  return text;
}

TritonArgs batches_of(std::int64_t max_batch_size) {
  TritonArgs args;
  args.max_batch_size = max_batch_size;
  return args;
}

}  // namespace

TEST_CASE("without a delay the first request runs alone and the next batch gathers while it runs") {
  CHECK(told(batches_of(8), at({0, 100, 200, 300})) == "0: 0 | 1000: 1 2 3");
}

TEST_CASE("requests of one instant are seen together") { CHECK(told(batches_of(8), at({0, 0, 0})) == "0: 0 1 2"); }

TEST_CASE("payloads that are full close, and the next one begins to gather") {
  CHECK(told(batches_of(3), at({0, 10, 20, 30, 40, 50, 60, 70})) == "0: 0 | 1000: 1 2 3 | 2000: 4 5 6 | 3000: 7");
}

TEST_CASE("at most two payloads an instance are formed ahead; what comes later gathers in the queue") {
  // Seven payloads of two would be needed: 1-2 and 3-4 stand in line, the rest is taken up as the line moves.
  std::vector<SimTime> times;
  for (SimTime t = 0; t < 13; ++t) times.push_back(t);
  CHECK(told(batches_of(2), at(times)) ==
        "0: 0 | 1000: 1 2 | 2000: 3 4 | 3000: 5 6 | 4000: 7 8 | 5000: 9 10 | 6000: 11 12");
}

TEST_CASE("with a delay a batch leaves when its oldest request has waited so long, or when it is full") {
  TritonArgs args = batches_of(4);
  args.max_queue_delay_microseconds = 500;
  CHECK(told(args, at({0, 200, 499})) == "500: 0 1 2");
  CHECK(told(args, at({0, 200, 400, 450, 460})) == "450: 0 1 2 3 | 1450: 4");
}

TEST_CASE("a preferred size ends the wait for more") {
  TritonArgs args = batches_of(8);
  args.preferred_batch_size = {3, 6};
  args.max_queue_delay_microseconds = 500;
  CHECK(told(args, at({0, 10, 20, 30, 40})) == "20: 0 1 2 | 1020: 3 4");
}

TEST_CASE("without a delay preferred sizes cap a batch and never make it wait") {
  TritonArgs args = batches_of(8);
  args.preferred_batch_size = {3};
  CHECK(told(args, at({0, 1, 2, 3, 4, 5, 6, 7})) == "0: 0 | 1000: 1 2 3 | 2000: 4 5 6 | 3000: 7");
}

TEST_CASE("once the delay has passed a batch takes more than a preferred size") {
  TritonArgs args = batches_of(8);
  args.preferred_batch_size = {2};
  args.max_queue_delay_microseconds = 300;
  args.default_queue_policy.max_queue_size = 100;  // batches form only when the instance is idle
  // 0 and 1 make a preferred batch at 1. At 1001 the oldest has waited 700: all five go, not two.
  CHECK(told(args, at({0, 1, 301, 302, 303, 304, 305})) == "1: 0 1 | 1001: 2 3 4 5 6");
}

TEST_CASE("a payload closed by its delay does not grow by arrivals that do not reach the next preferred size") {
  TritonArgs args = batches_of(8);
  args.max_queue_delay_microseconds = 300;
  // {1, 2} closes at 700; 3 comes at 800 and wakes nobody; the thread looks again when the instance takes the payload.
  CHECK(told(args, at({0, 400, 500, 800, 900}), 2000) == "300: 0 | 2300: 1 2 | 4300: 3 4");
}

TEST_CASE("the thread looks at its queue every half second by itself") {
  TritonArgs args = batches_of(8);
  args.max_queue_delay_microseconds = 300;
  // {1} closes at 700 and the thread sleeps; 2 wakes nobody, but the tick at 500,700 finds it and the payload grows.
  CHECK(told(args, at({0, 400, 800}), 900'000) == "300: 0 | 900300: 1 2");
}

TEST_CASE("an instance merges payloads that are all older than the delay and fit into one batch") {
  TritonArgs args = batches_of(5);
  args.preferred_batch_size = {2};
  args.max_queue_delay_microseconds = 100;
  // {1, 2} stands in line from 201. At 203 the scan finds 3 beyond all preferred sizes, marks there when it comes to 4,
  // and 3 joins; 4 begins the next payload, which 5 makes a preferred one. At 1100 both are older than 100.
  const std::vector<SimTime> times{0, 200, 201, 202, 203, 204};
  CHECK(told(args, at(times)) == "100: 0 | 1100: 1 2 3 4 5");
  args.max_batch_size = 4;
  CHECK(told(args, at(times)) == "100: 0 | 1100: 1 2 3 | 2100: 4 5");
}

TEST_CASE("two instances take what is there one after the other") {
  TritonArgs args = batches_of(8);
  args.instance_count = 2;
  CHECK(told(args, at({0, 10, 20, 30})) == "0: 0 | 10: 1 | 1000: 2 3");
}

TEST_CASE("urgent levels go first, and a level that does not exist means the default one") {
  TritonArgs args = batches_of(2);
  args.priority_levels = 2;
  args.default_priority_level = 2;
  CHECK(told(args, {{0, 2}, {1 * kUs, 0}, {2 * kUs, 9}, {3 * kUs, 1}, {4 * kUs, 2}}) == "0: 0 | 1000: 3 1 | 2000: 2 4");
}

TEST_CASE("without levels the priority of a request is ignored") {
  CHECK(told(batches_of(1), {{0, 0}, {1 * kUs, 5}, {2 * kUs, 1}}) == "0: 0 | 1000: 1 | 2000: 2");
}

TEST_CASE("a request past its time is refused when the batcher comes to it, not when the time passes") {
  TritonArgs args = batches_of(1);
  args.default_queue_policy.default_timeout_microseconds = 1500;
  // 1 runs out at 1510, 2 at 1520 and is seen at 2000. Expiry is strict: 3 is served at 2000 sharp.
  CHECK(told(args, at({0, 10, 20, 500})) == "0: 0 | 1000: 1 | 2000: -2 | 2000: 3");
}

TEST_CASE("while the batcher waits for an instance it refuses expired requests every half second") {
  TritonArgs args = batches_of(1);
  args.default_queue_policy.default_timeout_microseconds = 100;
  // It sleeps from 0 on, finds 1 at its first tick, begins to wait for the instance, and looks again a tick later.
  CHECK(told(args, at({0, 10}), 2'000'000) == "0: 0 | 1000000: -1");
}

TEST_CASE("each wait for an instance has its own half seconds, and a request is in time at its deadline") {
  TritonArgs args = batches_of(1);
  args.default_queue_policy.default_timeout_microseconds = 600'000;
  // 1 is taken when 0 ends at 2,000,100; the wait for the next slot begins then. 2 may wait until 2,500,100, which is a
  // tick of that wait: it is refused at the one after.
  CHECK(told(args, at({0, 1'900'000, 1'900'100}), 2'000'100) == "0: 0 | 2000100: 1 | 3000100: -2");
}

TEST_CASE("a delaying policy serves the late after all others of their level and before the next level") {
  TritonArgs args = batches_of(1);
  args.priority_levels = 2;
  args.default_priority_level = 1;
  args.default_queue_policy.default_timeout_microseconds = 1500;
  args.default_queue_policy.timeout_action = TritonArgs::TimeoutAction::kDelay;
  // 2 is late at 2000 and gives way to 3, which is of its level; 4 is of the other.
  CHECK(told(args, {{0, 1}, {10 * kUs, 1}, {20 * kUs, 1}, {900 * kUs, 1}, {950 * kUs, 2}}) ==
        "0: 0 | 1000: 1 | 2000: 3 | 3000: 2 | 4000: 4");
}

TEST_CASE("a full queue refuses at once; what is in a batch does not fill it") {
  TritonArgs args = batches_of(1);
  args.default_queue_policy.max_queue_size = 2;
  CHECK(told(args, at({0, 10, 20, 30, 1005})) == "0: 0 | 30: -3 | 1000: 1 | 2000: 2 | 3000: 4");
}

TEST_CASE("each level has its own policy") {
  TritonArgs args = batches_of(1);
  args.priority_levels = 2;
  args.default_priority_level = 2;
  args.priority_queue_policy.resize(2);
  args.priority_queue_policy[1].max_queue_size = 1;
  CHECK(told(args, {{0, 2}, {1 * kUs, 1}, {2 * kUs, 1}, {3 * kUs, 2}, {4 * kUs, 2}}) ==
        "0: 0 | 4: -4 | 1000: 1 | 2000: 2 | 3000: 3");
}

TEST_CASE("with batching off every request runs by itself, in order") {
  TritonArgs args = batches_of(8);
  args.dynamic_batching = false;
  args.instance_count = 2;
  CHECK(told(args, at({0, 1, 2, 3, 4})) == "0: 0 | 1: 1 | 1000: 2 | 1001: 3 | 2000: 4");
}

TEST_CASE("every request runs once whatever the settings, and no batch is too large") {
  std::uint64_t seed = 1;
  const auto random = [&seed](std::uint64_t below) {  // a small generator of its own: the settings need no quality
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  for (int world = 0; world < 300; ++world) {
    TritonArgs args = batches_of(1 + static_cast<std::int64_t>(random(9)));
    if (random(2)) args.max_queue_delay_microseconds = static_cast<std::int64_t>(random(3000));
    if (random(2)) args.preferred_batch_size = {1 + static_cast<std::int64_t>(random(args.max_batch_size))};
    args.instance_count = 1 + static_cast<std::int64_t>(random(3));
    args.priority_levels = static_cast<std::int64_t>(random(2) * 3);
    args.default_priority_level = args.priority_levels;
    if (random(3) == 0)
      args.default_queue_policy.default_timeout_microseconds = 1 + static_cast<std::int64_t>(random(4000));
    if (random(3) == 0) args.default_queue_policy.timeout_action = TritonArgs::TimeoutAction::kDelay;
    if (random(3) == 0) args.default_queue_policy.max_queue_size = 1 + static_cast<std::int64_t>(random(9));
    std::vector<TritonArrival> arrivals(60);
    SimTime now = 0;
    for (TritonArrival& a : arrivals) {
      a = {now, static_cast<std::int32_t>(random(5))};
      now += static_cast<SimTime>(random(4)) * 200 * kUs;
    }
    std::vector<int> seen(arrivals.size());
    std::int64_t running = 0;
    const auto log =
        run_triton(args, arrivals, [](std::size_t n) { return static_cast<SimTime>(600 + 100 * n) * kUs; });
    for (std::size_t i = 0; i < log.size(); ++i) {
      INFO("world " << world << " line " << i);
      for (const std::size_t r : log[i].requests) {
        ++seen[r];
        REQUIRE(log[i].at >= arrivals[r].at);
      }
      if (log[i].end == kNever) continue;
      REQUIRE(static_cast<std::int64_t>(log[i].requests.size()) <= args.max_batch_size);
      running = 1;
      for (std::size_t k = 0; k < i; ++k) running += log[k].end != kNever && log[k].end > log[i].at;
      REQUIRE(running <= args.instance_count);
    }
    REQUIRE(seen == std::vector<int>(arrivals.size(), 1));
  }
}
