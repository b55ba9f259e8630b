// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/engines/engine_kind.h"
#include "scenarios/summary.h"
#include "sim/report.h"

namespace poolcast::testing {

/// A run of one model with two classes on three unlike pools, made by hand. Round numbers, so that a test can say what
/// each figure must be: 100 s measured; chat: 1,000 requests on `nvidia`, batch: 400 on `amd` of which 100 failed, and
/// 100 rejected before they met a pool; `tpu` idle.
struct ExampleRun {
  Report report;
  RunFacts facts;
};

inline ReplicaReport example_replica(PoolId pool, std::uint64_t requests) {
  ReplicaReport r;
  r.pool = pool;
  r.requests = r.completed = requests;
  r.steps = requests * 10;
  r.leaps = requests * 4;
  r.busy = static_cast<SimTime>(requests) * 100'000'000;
  r.scheduled_tokens = static_cast<std::int64_t>(requests) * 1'000;
  r.running_steps = static_cast<std::int64_t>(r.steps) * 8;
  r.running_max = 16;
  r.kv_blocks_usable = 1'000;
  r.kv_block_steps = static_cast<std::int64_t>(r.steps) * 250;
  r.kv_blocks_max = requests > 0 ? 900 : 0;
  return r;
}

inline Cell completed_cell(std::uint64_t count, std::uint64_t accepted, SimTime ttft, SimTime tpot) {
  Cell cell;
  Outcomes& o = cell.outcomes;
  o.offered = o.ended[0] = count;
  o.accepted = accepted;
  o.prompt_tokens = static_cast<std::int64_t>(count) * 1'000;
  o.output_tokens = static_cast<std::int64_t>(count) * 200;
  o.accepted_output_tokens = static_cast<std::int64_t>(accepted) * 200;
  for (std::uint64_t i = 1; i <= count; ++i) {  // a tenth takes four times as long
    const SimTime factor = i % 10 == 0 ? 4 : 1;
    cell.latencies[Metric::kTtft].add(ttft * factor);
    cell.latencies[Metric::kTpot].add(tpot);
    cell.latencies[Metric::kItl].add(tpot, 199);
    cell.latencies[Metric::kE2e].add(ttft * factor + 199 * tpot);
    cell.latencies[Metric::kQueueDelay].add(ttft * factor / 2);
  }
  return cell;
}

inline ExampleRun example_run() {
  ExampleRun run;
  RunFacts& f = run.facts;
  f.version = "0.1.0";
  f.scenario = "three_pools.yaml";
  f.scenario_digest = "sha256:0123456789abcdef";
  f.seed = 7;
  f.models = {"llama"};
  const SimTime ms = 1'000'000;
  f.classes.resize(2);
  f.classes[0].name = "chat";
  f.classes[0].model = ModelId(0u);
  f.classes[0].objectives = {{Metric::kTtft, 99, 2'000 * ms}, {Metric::kTpot, 95, 20 * ms}};
  f.classes[1].name = "batch";
  f.classes[1].model = ModelId(0u);
  f.classes[1].objectives = {{Metric::kE2e, 99.5, 600'000 * ms}};
  const Telemetry* const vllm = &engine_kind("vllm")->telemetry;
  f.pools = {
      {"nvidia", "llama", "h100-sxm", "vllm 0.19", 2, 4, DollarsPerHour(2.5), "roofline of the h100-sxm datasheet",
       "tokens", vllm},
      {"amd", "llama", "mi300x", "vllm 0.19", 1, 8, DollarsPerHour(2.0), "roofline of the mi300x datasheet", "tokens",
       vllm},
      {"tpu", "llama", "tpu-v6e", "vllm 0.19", 1, 8, DollarsPerHour(1.0), "step fit of 12 logs", "tokens", vllm}};
  f.notes = {"A note of the scenario."};
  f.fidelity = {"prefix caching: not modelled"};

  Report& r = run.report;
  r.first_arrival = r.measured_begin = 0;
  r.last_arrival = 99 * kNanosPerSecond;
  r.end = r.measured_end = 100 * kNanosPerSecond;
  r.cells.assign(2, std::vector<Cell>(4));
  r.cells[0][0] = completed_cell(1'000, 900, 600 * ms, 25 * ms);
  r.cells[1][1] = completed_cell(300, 300, 3'000 * ms, 40 * ms);
  Outcomes& on_amd = r.cells[1][1].outcomes;
  on_amd.offered += 100;
  on_amd.ended[static_cast<std::size_t>(Outcome::kFailed)] = 100;
  on_amd.reasons[static_cast<std::size_t>(Reason::kStalled)] = 100;
  Outcomes& nowhere = r.cells[1][3].outcomes;
  nowhere.offered = nowhere.ended[static_cast<std::size_t>(Outcome::kRejected)] = 100;
  nowhere.reasons[static_cast<std::size_t>(Reason::kQueueFull)] = 100;

  r.replicas = {example_replica(PoolId(0u), 600), example_replica(PoolId(0u), 400), example_replica(PoolId(1u), 400),
                example_replica(PoolId(2u), 0)};
  r.replicas[2].preemptions = 50;
  r.replicas[2].recomputed_tokens = 100'000;
  r.windows = {{0, 50 * kNanosPerSecond, 700, 650, 12.5}, {50 * kNanosPerSecond, 100 * kNanosPerSecond, 800, 850, 15}};
  r.steps = 14'000;
  r.leaps = 5'600;
  r.events = 12'345;
  return run;
}

}  // namespace poolcast::testing
