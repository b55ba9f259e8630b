// SPDX-License-Identifier: Apache-2.0
#include "sim/busy_share.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/decision_log.h"
#include "sim/random.h"
#include "sim/routing/aliases.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

TEST_CASE("the busy share is what of the last window lay in steps") {
  BusyShare shares(2, 1, 100);
  shares.before_change(0, 30, 0);                 // a step begins
  CHECK(shares.share(0, 50, 20) == Approx(0.2));  // in the middle of it
  CHECK(shares.share(0, 130, 100) == Approx(1));  // longer than the window
  CHECK(shares.share(0, 140, 110) == Approx(1));
  shares.before_change(0, 140, 110);  // it ends
  CHECK(shares.share(0, 160, 110) == Approx(0.8));
  shares.before_change(0, 200, 110);                // another
  CHECK(shares.share(0, 210, 120) == Approx(0.4));  // 110 to 140 and 200 to 210
  CHECK(shares.share(0, 240, 150) == Approx(0.4));
  CHECK(shares.share(1, 240, 0) == 0);
  BusyShare wide(1, 4, 100);  // four engines or instances, of which three are busy
  CHECK(wide.share(0, 50, 150) == Approx(0.375));
}

TEST_CASE("where a run of steps is cut does not change a busy share") {
  RandomStream random(7, "test");
  for (int round = 0; round < 50; ++round) {
    BusyShare whole(1, 1, 1000), cut(1, 1, 1000);
    SimTime now = 0, busy = 0;
    for (int piece = 0; piece < 100; ++piece) {
      const auto length = static_cast<SimTime>(random.below(400)), part = static_cast<SimTime>(random.below(20) + 1);
      const bool on = piece % 2 == 1;
      for (SimTime at = part; at < length; at += part) cut.before_change(0, now + at, busy + (on ? at : 0));
      now += length;
      busy += on ? length : 0;
      REQUIRE(cut.share(0, now, busy) == whole.share(0, now, busy));
      whole.before_change(0, now, busy);
      cut.before_change(0, now, busy);
    }
  }
}

TEST_CASE("least-busy-time: whoever was busy least of late, whatever waits there") {
  // Two replicas with steps of 100 ms. A long request keeps one busy; the next ones, each over before another comes,
  // go to the other until that has been busy longer within the window of 2 s.
  SimulationSpec spec = one_pool(fixed_step(0.1), 2);
  const auto busy = routing::find_alias("least-busy-time")->make();
  spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(busy);
  spec.routing.pool[0].signals.busy_window = 2 * kNanosPerSecond;
  add_list(spec, {arrival(0, 10, 3), arrival(0.5, 10, 1), arrival(1, 10, 1), arrival(1.5, 10, 2), arrival(1.9, 10, 1)});
  const auto records = records_by_row(std::move(spec));
  const auto first = records[0].replica;
  std::string where;
  for (const RequestRecord& r : records) where += r.replica == first ? 'a' : 'b';
  // 0: equal. 0.5: 0.3 s against 0. 1: 0.3 against 0.1. 1.5: 0.3 against 0.2. 1.9: 0.3 against 0.4.
  CHECK(where == "abbba");
}

TEST_CASE("a router sees the busy share of this instant, in the middle of a leap and after it") {
  const auto seen = [](double at_s) {
    SimulationSpec spec = one_pool(fixed_step(0.1), 2);
    const auto busy = routing::find_alias("least-busy-time")->make();
    spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(busy);
    spec.routing.pool[0].signals.busy_window = 400'000'000;
    add_list(spec, {arrival(0, 10, 3), arrival(at_s, 10, 1)});
    DecisionLog log;
    log.source = SourceId(0U);
    log.row = 1;
    spec.log = &log;
    simulate(std::move(spec), {});
    const auto& shares = log.pipelines.at(0).seen.busy;
    CHECK(std::min(shares[0], shares[1]) == 0);
    return std::max(shares[0], shares[1]);
  };
  CHECK(seen(0.15) == Approx(0.15 / 0.4));
  CHECK(seen(0.3) == Approx(0.3 / 0.4));
  CHECK(seen(0.5) == Approx(0.2 / 0.4));  // from 0.1 to 0.3
  CHECK(seen(0.8) == 0);
}

TEST_CASE("the busy share of an engine with instances is the mean over them, batches in progress included") {
  SimulationSpec spec = one_pool(fixed_step(0.2));
  TritonArgs args;
  args.max_batch_size = 1;
  args.instance_count = 2;
  spec.pools[0].engine = args;
  const auto busy = routing::find_alias("least-busy-time")->make();
  spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(busy);
  spec.routing.pool[0].signals.busy_window = 400'000'000;
  add_list(spec, {arrival(0, 10, 1), arrival(0.1, 10, 1), arrival(0.25, 10, 1)});
  DecisionLog log;
  log.source = SourceId(0U);
  log.row = 2;
  spec.log = &log;
  simulate(std::move(spec), {});
  // 0.2 s on one instance, and 0.15 s of a batch on the other, of twice 0.4 s.
  CHECK(log.pipelines.at(0).seen.busy.at(0) == Approx(0.35 / 0.8));
}

TEST_CASE("a busy share that is asked for at intervals is that of the last answer") {
  SimulationSpec spec = one_pool(fixed_step(0.1), 2);
  const auto busy = routing::find_alias("least-utilization")->make();
  spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(busy);
  spec.routing.pool[0].signals.busy = {kNanosPerSecond, 0};
  spec.routing.pool[0].signals.busy_window = 2 * kNanosPerSecond;
  std::vector<Arrival> arrivals = {arrival(0, 10, 3)};
  for (int i = 0; i < 6; ++i) arrivals.push_back(arrival(1.01 + 0.1 * i, 10, 1));
  add_list(spec, std::move(arrivals));
  const auto records = records_by_row(std::move(spec));
  // Until 2 s the first replica is known as busy and the other as idle, however many requests it has got since.
  for (std::size_t i = 1; i < records.size(); ++i) CHECK(records[i].replica != records[0].replica);
}
