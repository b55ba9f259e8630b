// SPDX-License-Identifier: Apache-2.0
#include "sim/flow_queue.h"

#include <catch2/catch.hpp>

using namespace poolcast;

namespace {

constexpr SimTime kSecond = kNanosPerSecond;

FlowQueue::Item item(std::uint32_t id, std::int32_t priority = 0, std::uint32_t flow = 0) {
  FlowQueue::Item made{.id = RequestId(id)};
  made.priority = priority;
  made.flow = flow;
  made.bytes = 100;
  return made;
}

/// The ids in the order in which they go.
std::vector<std::uint32_t> drain(FlowQueue& queue, SimTime now = 0) {
  std::vector<std::uint32_t> ids;
  while (!queue.empty()) ids.push_back(static_cast<std::uint32_t>(queue.take(now).value));
  return ids;
}

using Ids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("the more urgent band goes first, and within a band who came first") {
  FlowQueue queue({});
  for (const auto& [id, priority] : {std::pair{0u, 0}, {1u, 5}, {2u, -1}, {3u, 5}, {4u, 0}}) {
    REQUIRE(queue.push(item(id, priority), 0));
  }
  CHECK(drain(queue) == Ids{1, 3, 0, 4, 2});
}

TEST_CASE("by deadline the request first that expires or times out first") {
  FlowControlSpec spec;
  spec.other.order = FlowOrder::kEdf;
  FlowQueue queue(spec);
  FlowQueue::Item hurried = item(1);
  hurried.timeout = 10 * kSecond;
  queue.push(item(0), 0);            // expires after 60 s
  queue.push(hurried, 2 * kSecond);  // times out after 10 s
  queue.push(item(2), 3 * kSecond);
  CHECK(drain(queue) == Ids{1, 0, 2});
}

TEST_CASE("by objective the request first whose TTFT objective ends first, and those without one last") {
  FlowControlSpec spec;
  spec.other.order = FlowOrder::kSloDeadline;
  FlowQueue queue(spec);
  FlowQueue::Item late = item(1), soon = item(2);
  late.objective = 9 * kSecond;
  soon.objective = 4 * kSecond;
  queue.push(item(0), 0);
  queue.push(late, 0);
  queue.push(soon, kSecond);
  CHECK(drain(queue) == Ids{2, 1, 0});
}

TEST_CASE("flows in turn share a band, however much one of them brings") {
  FlowControlSpec spec;
  spec.other.fairness = FlowFairness::kRoundRobin;
  FlowQueue queue(spec);
  for (std::uint32_t id = 0; id < 4; ++id) queue.push(item(id, 0, 7), 0);
  queue.push(item(10, 0, 3), 0);
  queue.push(item(11, 0, 3), 0);
  queue.push(item(20, 0, 9), 0);
  CHECK(drain(queue) == Ids{10, 0, 20, 11, 1, 2, 3});
}

TEST_CASE("a queue is full by its own limits and by those of a band") {
  FlowControlSpec spec;
  spec.max_requests = 3;
  FlowBand small;
  small.priority = 4;
  small.max_requests = 1;
  FlowBand narrow;
  narrow.priority = 6;
  narrow.max_bytes = 99;
  spec.bands = {small, narrow};
  FlowQueue queue(spec);
  CHECK(queue.push(item(0, 4), 0));
  CHECK_FALSE(queue.push(item(1, 4), 0));
  CHECK_FALSE(queue.push(item(2, 6), 0));
  CHECK(queue.push(item(3), 0));
  CHECK(queue.push(item(4), 0));
  CHECK_FALSE(queue.push(item(5), 0));
  CHECK(queue.report().found_full == 3);
  CHECK(queue.report().longest == 3);
  queue.take(0);
  CHECK(queue.push(item(6, 4), 0));  // its band has room again
}

TEST_CASE("requests expire in the order in which they came, those that have left never") {
  FlowControlSpec spec;
  spec.ttl = 10 * kSecond;
  FlowQueue queue(spec);
  for (std::uint32_t id = 0; id < 4; ++id) queue.push(item(id), id * kSecond);
  queue.remove(RequestId(0u));
  CHECK(queue.take(5 * kSecond) == RequestId(1u));
  CHECK(queue.next_expiry() == 12 * kSecond);
  CHECK(queue.expire() == RequestId(2u));
  queue.push(item(1), 12 * kSecond);  // the same place again
  CHECK(queue.next_expiry() == 13 * kSecond);
  CHECK(queue.expire() == RequestId(3u));
  CHECK(queue.next_expiry() == 22 * kSecond);
  const FlowReport& report = queue.report();
  CHECK(report.came == 5);
  CHECK(report.given_up == 1);
  CHECK(report.dispatched == 1);
  CHECK(report.expired == 2);
  CHECK(report.wait == 4 * kSecond);
  CHECK(report.longest_wait == 4 * kSecond);
}
