// SPDX-License-Identifier: Apache-2.0
#include "sim/event_queue.h"

#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "sim/random.h"

using namespace poolcast;

TEST_CASE("events come in order of time, then phase, then slot") {
  EventQueue queue(4);
  queue.set(0, 5, Phase::kStepStart);
  queue.set(1, 5, Phase::kStepEnd);
  queue.set(3, 4, Phase::kStepStart);
  queue.set(2, 5, Phase::kStepEnd);
  std::vector<std::uint32_t> order;
  while (!queue.empty()) {
    order.push_back(queue.top().slot);
    queue.remove(queue.top().slot);
  }
  CHECK(order == std::vector<std::uint32_t>{3, 1, 2, 0});
}

TEST_CASE("the queue agrees with a sorted set on 100,000 random moves") {
  constexpr std::uint32_t kSlots = 37;
  EventQueue queue(kSlots);
  std::set<std::tuple<SimTime, int, std::uint32_t>> reference;
  std::vector<std::tuple<SimTime, int, std::uint32_t>> at(kSlots);
  RandomStream random(3, "event queue");
  for (int i = 0; i < 100'000; ++i) {
    const auto slot = static_cast<std::uint32_t>(random.below(kSlots));
    reference.erase(at[slot]);
    if (random.below(4) == 0) {
      queue.remove(slot);
    } else {
      at[slot] = {static_cast<SimTime>(random.below(50)), static_cast<int>(random.below(4)), slot};
      reference.insert(at[slot]);
      queue.set(slot, std::get<0>(at[slot]), static_cast<Phase>(std::get<1>(at[slot])));
    }
    REQUIRE(queue.empty() == reference.empty());
    if (reference.empty()) continue;
    const EventQueue::Event top = queue.top();
    REQUIRE(std::make_tuple(top.time, static_cast<int>(top.phase), top.slot) == *reference.begin());
  }
}
