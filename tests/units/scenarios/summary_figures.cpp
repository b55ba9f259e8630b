// SPDX-License-Identifier: Apache-2.0
#include "scenarios/summary.h"

#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "tests/support/example_report.h"

using namespace poolcast;
using poolcast::testing::example_run;
using poolcast::testing::ExampleRun;

namespace {

Summary summary_of(const ExampleRun& run) { return summarise(run.report, run.facts); }

bool has_note(const Summary& summary, const std::string& part, bool warning) {
  for (const Note& note : summary.notes) {
    if (note.warning == warning && note.text.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Rates are over the measured interval, and what failed counts as a miss of goodput") {
  const Summary s = summary_of(example_run());
  CHECK(s.total.outcomes.offered == 1500);
  CHECK(*s.total.requests_per_s == 13);
  CHECK(*s.total.prompt_tokens_per_s == 13'000);
  CHECK(*s.total.output_tokens_per_s == 2'600);
  CHECK(*s.total.goodput_requests_per_s == 12);
  CHECK(*s.total.goodput_share == 0.8);
}

TEST_CASE("Warm-up shortens the interval of the rates and of the cost") {
  ExampleRun run = example_run();
  run.report.measured_begin = 50 * kNanosPerSecond;
  const Summary s = summary_of(run);
  CHECK(*s.total.requests_per_s == 26);
  CHECK(s.cost.total->value == Approx(44.0 * 50 / 3600));
}

TEST_CASE("Classes, models and pools each add up to the whole") {
  const Summary s = summary_of(example_run());
  CHECK(s.classes[0].group.outcomes.offered + s.classes[1].group.outcomes.offered == 1500);
  CHECK(s.classes[1].group.model == "llama");
  REQUIRE(s.models.size() == 1);
  CHECK(s.models[0].outcomes.offered == 1500);
  CHECK(s.models[0].latencies[Metric::kTtft] == s.total.latencies[Metric::kTtft]);
  std::uint64_t on_pools = 0;
  for (const PoolSummary& pool : s.pools) on_pools += pool.group.outcomes.offered;
  CHECK(on_pools == 1400);  // a hundred were never routed
}

TEST_CASE("An objective is judged at its own percentile of its own class") {
  const Summary s = summary_of(example_run());
  REQUIRE(s.classes[0].objectives.size() == 2);
  const ObjectiveSummary& ttft = s.classes[0].objectives[0];
  CHECK(static_cast<double>(*ttft.achieved) == Approx(2.4e9).epsilon(Histogram::kRelativeError));
  CHECK(*ttft.share_within == 0.9);
  CHECK_FALSE(*ttft.met);
  CHECK_FALSE(*s.classes[0].objectives[1].met);

  ExampleRun looser = example_run();
  looser.facts.classes[0].objectives[0].percentile = 90;
  CHECK(*summary_of(looser).classes[0].objectives[0].met);
}

TEST_CASE("A request that did not complete misses the objectives of its class") {
  ExampleRun run = example_run();
  run.facts.classes[1].objectives[0].percentile = 60;  // 300 of 500 completed, all within the limit
  ObjectiveSummary e2e = summary_of(run).classes[1].objectives[0];
  CHECK(*e2e.share_within == 0.6);
  CHECK(*e2e.achieved == summary_of(run).classes[1].group.latencies[Metric::kE2e].quantile(1));
  CHECK(*e2e.met);

  run.facts.classes[1].objectives[0].percentile = 61;
  e2e = summary_of(run).classes[1].objectives[0];
  CHECK_FALSE(e2e.achieved.has_value());
  CHECK_FALSE(*e2e.met);
}

TEST_CASE("An objective without a sample is neither met nor missed") {
  ExampleRun run = example_run();
  run.report.cells[0][0] = Cell{};
  const ObjectiveSummary ttft = summary_of(run).classes[0].objectives[0];
  CHECK_FALSE(ttft.met.has_value());
  CHECK_FALSE(ttft.share_within.has_value());
}

TEST_CASE("The use of a pool is that of its replicas together") {
  const Summary s = summary_of(example_run());
  const PoolSummary& nvidia = s.pools[0];
  REQUIRE(nvidia.replicas.size() == 2);
  CHECK(nvidia.replicas[0].busy_share == 0.6);
  CHECK(nvidia.replicas[1].busy_share == 0.4);
  CHECK(nvidia.use.busy_share == 0.5);
  CHECK(nvidia.use.requests == 1000);
  CHECK(*nvidia.use.mean_batch == 8);
  CHECK(nvidia.use.running_max == 16);
  CHECK(*nvidia.use.kv_use_mean == 0.25);
  CHECK(*nvidia.use.kv_use_max == 0.9);
  CHECK(s.pools[1].use.preemptions == 50);
  CHECK(*s.pools[1].use.recompute_tax == 0.25);
  const ReplicaUse& idle = s.pools[2].use;
  CHECK(idle.busy_share == 0);
  CHECK_FALSE(idle.mean_batch.has_value());
  CHECK_FALSE(idle.kv_use_max.has_value());
}

TEST_CASE("Cost counts every replica, idle ones too, and names the pool's own price of a token") {
  const Summary s = summary_of(example_run());
  CHECK(s.cost.per_hour->value == 44);
  CHECK(s.cost.total->value == Approx(44.0 * 100 / 3600));
  CHECK(s.cost.per_accepted_output->value == Approx(44.0 * 100 / 3600 / 1200));
  CHECK(s.cost.per_million_output_tokens->value == Approx(44.0 * 100 / 3600 / 0.26));
  CHECK(s.cost.per_million_accepted_tokens->value == Approx(44.0 * 100 / 3600 / 0.24));
  CHECK(s.pools[0].per_million_output_tokens->value == Approx(20.0 * 100 / 3600 / 0.2));
  CHECK_FALSE(s.pools[2].per_million_output_tokens.has_value());
}

TEST_CASE("A pool without a price makes the total unknown, and a note says so") {
  ExampleRun run = example_run();
  run.facts.pools[1].price_per_device.reset();
  const Summary s = summary_of(run);
  CHECK_FALSE(s.cost.total.has_value());
  CHECK_FALSE(s.cost.per_million_output_tokens.has_value());
  CHECK(s.pools[0].cost.total.has_value());
  CHECK(has_note(s, "pool amd has no price", false));
}

TEST_CASE("What makes figures doubtful is a warning") {
  CHECK(has_note(summary_of(example_run()), "13.3 % of the requests did not complete", true));
  CHECK(has_note(summary_of(example_run()), "queue_full 100, stalled 100", true));
  CHECK_FALSE(has_note(summary_of(example_run()), "not stationary", true));
  CHECK_FALSE(has_note(summary_of(example_run()), "extrapolated", true));

  ExampleRun run = example_run();
  run.report.stationary = false;
  run.report.backlog_growth_per_s = 0.25;
  run.report.replicas[2].extrapolated_steps = 2'000;
  run.report.replicas[2].stalled = true;
  const Summary s = summary_of(run);
  CHECK(has_note(s, "not stationary", true));
  CHECK(has_note(s, "0.250 requests/s", true));
  CHECK(has_note(s, "extrapolated: 14.3 % of the steps", true));
  CHECK(has_note(s, "(amd 50.0 %)", true));
  CHECK(has_note(s, "1 replica was stopped", true));
  CHECK(*s.extrapolated_step_share == Approx(2'000.0 / 14'000));
  CHECK(s.stalled_replicas == 1);
}

TEST_CASE("What a reader should know is a note") {
  ExampleRun run = example_run();
  run.report.skipped_rows = 1;
  run.report.truncated_requests = 1'200;
  run.report.notes = {"A note of the engine."};
  const Summary s = summary_of(run);
  CHECK(has_note(s, "Pool amd: 25.0 % of its tokens were computed again after 50 preemptions", false));
  CHECK_FALSE(has_note(s, "Pool nvidia", false));
  CHECK(has_note(s, "1 row was left out", false));
  CHECK(has_note(s, "1,200 requests were longer than the limits", false));
  CHECK(has_note(s, "No prefix data", false));
  CHECK(has_note(s, "A note of the engine.", false));
  CHECK(has_note(s, "A note of the scenario.", false));
  run.report.has_prefix_data = true;
  CHECK_FALSE(has_note(summary_of(run), "No prefix data", false));
}

TEST_CASE("A run in which nothing was measured has no figures and says why") {
  ExampleRun run = example_run();
  for (auto& row : run.report.cells) row.assign(4, Cell{});
  run.report.measured_begin = kNever;
  run.report.measured_end = 0;
  const Summary s = summary_of(run);
  CHECK(has_note(s, "The workload brought no requests.", true));
  CHECK_FALSE(s.total.requests_per_s.has_value());
  CHECK_FALSE(s.total.goodput_share.has_value());
  CHECK(s.cost.total->value == 0);
  CHECK(s.measured_end == 0);
  run.report.warm_up_requests = 3;
  CHECK(has_note(summary_of(run), "No request was measured: the warm-up or the window leaves none.", true));
}
