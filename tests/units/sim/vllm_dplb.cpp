// SPDX-License-Identifier: Apache-2.0
// vLLM's balancer of data-parallel ranks, as a policy and inside a replica.
#include <catch2/catch.hpp>

#include "sim/policies/registry.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

struct Told : Signals {
  std::vector<std::int64_t> waits, runs;
  std::vector<double> kv;

  std::int64_t waiting(std::uint32_t index) const override { return waits[index]; }
  std::int64_t running(std::uint32_t index) const override { return runs[index]; }
  double kv_usage(std::uint32_t index) const override { return kv[index]; }
};

/// The choice of a fresh policy among all candidates, or those that are open.
std::uint32_t choice(const char* policy, const Told& told, std::vector<std::int64_t> load,
                     std::vector<std::uint32_t> open = {0, 1, 2}) {
  const std::vector<double> even(load.size(), 1.0);
  return make_policy(policy, 1, "test")->choose({load, even, open, &told});
}

}  // namespace

TEST_CASE("vllm-dplb weighs what waits by the pressure on KV memory above half of it") {
  Told told;
  told.waits = {2, 0, 1};
  told.runs = {3, 8, 6};
  told.kv = {0.9, 0.99, 0.5};
  // 5 + 2 * 6 * 0.4 = 9.8; 8, since nothing waits; 7 + 1 * 6 * 0 = 7.
  CHECK(choice("vllm-dplb", told, {5, 8, 7}) == 2);
  CHECK(choice("vllm-dplb", told, {5, 8, 7}, {0, 1}) == 1);
  told.kv[0] = 0.6;  // 5 + 2 * 6 * 0.1 = 6.2
  CHECK(choice("vllm-dplb", told, {5, 8, 7}) == 0);
  // Nine in flight to it, of which it has not heard of all.
  CHECK(choice("vllm-dplb", told, {9, 8, 7}) == 2);
}

TEST_CASE("vllm-dplb-queue counts a waiting request as four") {
  Told told;
  told.waits = {2, 0, 1};
  told.runs = {3, 10, 6};
  told.kv = {0, 0, 0};
  CHECK(choice("vllm-dplb-queue", told, {0, 0, 0}) == 1);  // 11, 10, 10: the first of equals
  told.runs[1] = 12;
  CHECK(choice("vllm-dplb-queue", told, {0, 0, 0}) == 2);
}

TEST_CASE("equal scores go round: the start moves on by one with each request") {
  Told told;
  told.waits = told.runs = {0, 0, 0};
  told.kv = {0, 0, 0};
  const std::vector<double> even(3, 1.0);
  const std::vector<std::int64_t> load(3, 0);
  const std::vector<std::uint32_t> all = {0, 1, 2}, some = {0, 2};
  const auto policy = make_policy("vllm-dplb", 1, "test");
  std::vector<std::uint32_t> order;
  for (int i = 0; i < 4; ++i) order.push_back(policy->choose({load, even, all, &told}));
  CHECK(order == std::vector<std::uint32_t>{0, 1, 2, 0});
  CHECK(policy->choose({load, even, some, &told}) == 2);  // 1 is closed
  CHECK(policy->choose({load, even, some, &told}) == 2);
  CHECK(policy->choose({load, even, some, &told}) == 0);
}

TEST_CASE("a replica of two ranks shares its requests out between them, each with a KV cache of its own") {
  const auto run = [](std::int32_t replicas, std::int32_t ranks) {
    SimulationSpec spec = one_pool(fixed_step(0.01), replicas);
    spec.pools[0].ranks = ranks;
    spec.pools[0].vllm().num_gpu_blocks = 11;  // 160 tokens
    spec.pools[0].vllm().max_model_len = 160;
    add_list(spec, {arrival(0, 100, 30), arrival(0, 100, 30), arrival(0, 100, 30), arrival(0.5, 100, 30)});
    Recorder recorder;
    const Report report = simulate(std::move(spec), {&recorder});
    std::vector<std::uint32_t> engines;
    for (const RequestRecord& r : recorder.records) engines.push_back(r.replica.value);
    return std::make_pair(engines, report.end);
  };
  // A rank holds one request at a time, 0.3 s each: two at once, then the third, and the last one meets an idle rank.
  const auto [engines, end] = run(1, 2);
  CHECK(engines == std::vector<std::uint32_t>{0, 1, 0, 1});
  CHECK(end == 800'000'000);
  // Two replicas of one rank each, in turn, are the same; two of two ranks run all three at once.
  CHECK(run(2, 1).first == std::vector<std::uint32_t>{0, 1, 0, 1});
  CHECK(run(2, 2).first == std::vector<std::uint32_t>{0, 1, 2, 3});  // in order of their ends
}

TEST_CASE("the ranks of a replica count together against its limit of pending requests") {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  spec.pools[0].ranks = 2;
  spec.pools[0].vllm().max_num_seqs = 1;
  spec.pools[0].max_pending_requests = 1;
  std::vector<Arrival> list;
  for (int i = 0; i < 6; ++i) list.push_back(arrival(0.001 * i, 10, 50));
  add_list(spec, std::move(list));
  const Report report = simulate(std::move(spec));
  CHECK(report.total().outcomes.count(Outcome::kCompleted) == 3);  // two run, one waits
  CHECK(report.total().outcomes.count(Outcome::kRejected) == 3);
}
