// SPDX-License-Identifier: Apache-2.0
// Public reports about retries and traffic between pools, each turned into a test. The number of the report stands in
// the name.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kSecond = kNanosPerSecond;

/// 20 requests/s at most (ten at a time, half a second each), 15 requests/s for five minutes, and one burst of 150
/// after 30 s. Clients give up a try after 2 s.
SimulationSpec flat_demand() {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  spec.pools[0].vllm().max_num_seqs = 10;
  ClassSpec& cls = spec.classes[0];
  cls.timeout = 2 * kSecond;
  cls.retry.backoff = kSecond / 10;
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 15 * 300; ++i) arrivals.push_back(arrival(i / 15.0, 10, 50));
  for (int i = 0; i < 150; ++i) arrivals.push_back(arrival(30, 10, 50));
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.intended < b.intended; });
  add_list(spec, std::move(arrivals));
  return spec;
}

/// The share that completed of the requests first sent from second `from` to second `to`.
double completed(const std::vector<RequestRecord>& records, double from, double to) {
  double all = 0, good = 0;
  for (const RequestRecord& r : records) {
    if (r.at.intended < to_sim_time(Seconds(from)) || r.at.intended >= to_sim_time(Seconds(to))) continue;
    ++all;
    good += r.outcome == Outcome::kCompleted;
  }
  return good / all;
}

}  // namespace

TEST_CASE("agentmail-mcp#43: after one burst retries keep a system down at flat demand, unless they have a budget") {
  const auto run = [](std::int32_t max, double budget) {
    SimulationSpec spec = flat_demand();
    spec.classes[0].retry.max = max;
    spec.classes[0].retry.budget = budget;
    Recorder recorder;
    const Report report = simulate(std::move(spec), {&recorder});
    INFO("retries " << report.gateway.retries[0].retries << " denied " << report.gateway.retries[0].denied);
    return recorder.records;
  };
  const double endless = std::numeric_limits<double>::infinity();
  const auto without = run(10, endless), with = run(10, 0.1);
  CHECK(completed(without, 0, 25) == 1);
  CHECK(completed(with, 0, 25) == 1);
  // Four minutes after the burst, at three quarters of the capacity.
  INFO(completed(without, 240, 290) << " without a budget, " << completed(with, 240, 290) << " with one");
  CHECK(completed(without, 240, 290) < 0.5);
  CHECK(completed(with, 240, 290) == 1);
}
