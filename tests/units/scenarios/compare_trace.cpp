// SPDX-License-Identifier: Apache-2.0
// A rehearsal on a real trace: a model on three unlike pools, half of its chat traffic to move.
#include <catch2/catch.hpp>

#include "scenarios/compare.h"
#include "tests/support/data.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::string three_pools(const std::string& trace, const std::string& to) {
  return R"(version: 1
seed: 7
workload:
  model: reasoning
  class: chat
  trace: {file: )" +
         trace + R"(, format: azure}
models:
  - name: reasoning
    shape: llama-3.1-70b
    contract:
      limits: {context: 16384}
      classes: {chat: {objectives: {ttft: {p99: 4 s}, tpot: {p95: 80 ms}}}}
    evaluation: {suite: eval-suite-2026-08, threshold: 0.86}
    implementations:
      - {pool: hopper, precision: fp8, artifact: fp8-tensor-parallel-8, evaluation: {score: 0.874, samples: 4000}}
      - {pool: mi300, precision: fp8, artifact: fp8-tensor-parallel-8-rocm, status: canary, evaluation: {score: 0.871, samples: 4000}}
      - {pool: trainium, artifact: neuron-compiled-seq4096, status: canary, limits: {context: 4096}, evaluation: {score: 0.872, samples: 4000}}
pools:
  - {name: hopper, accelerator: h100-sxm, layout: {tp: 8}, replicas: 2, engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 256, max_num_batched_tokens: 8192}}, price: {list: aws/p5.48xlarge}}
  - {name: mi300, accelerator: mi300x, layout: {tp: 8}, replicas: 2, engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 256, max_num_batched_tokens: 8192}}, price: {list: oci/BM.GPU.MI300X.8}}
  - {name: trainium, accelerator: trainium2, layout: {tp: 8}, replicas: 2, engine: {kind: bucketed, version: neuron-2026-07-28, args: {max_num_seqs: 32, max_model_len: 4096}}, price: {reserved: $1.44/h per device}}
routing:
  gateway: {policy: weighted, weights: {hopper: 1}}
  pool: {policy: least-request}
move:
  from: hopper
  to: )" +
         to + R"(
  class: chat
  start: 5 min
  steps:
    - {share: 5 %, for: 8 min}
    - {share: 10 %, for: 8 min}
    - {share: 20 %, for: 8 min}
    - {share: 35 %, for: 8 min}
    - {share: 50 %, for: 8 min}
  gates: {correctness: true, ttft: {p99: 1.2x}, tpot: {p95: 80 ms}, error_rate: 1 %, eligible: 99 %, cost: 2 %}
  abort: {every: 1 min, ttft: {p99: 10 s}, error_rate: 10 %}
  min_requests: 20
  roll_back: [{share: 10 %, for: 2 min}, {share: 0 %}]
measure: {warm_up: 60 s}
)";
}

Comparison rehearsed(const std::string& trace, const std::string& to) {
  Scenario base = loaded(three_pools(trace, to));
  const Scenario candidate = base;
  base.moves.clear();
  CompareOptions options;
  options.replications = 3;
  return compare(base, candidate, options);
}

}  // namespace

TEST_CASE("half of the chat traffic of a trace moves from Hopper to MI300 in five steps", "[data]") {
  POOLCAST_NEED_DATA(trace, "traces/AzureLLMInferenceTrace_code.csv");
  const Comparison c = rehearsed(*trace, "mi300");
  REQUIRE(c.moves.size() == 1);
  CHECK(c.moves[0].completed == 3);
  CHECK(c.moves[0].first.report.steps.size() == 7);  // before, five steps, and what stays
  CHECK(c.verdict == Verdict::kGo);
}

TEST_CASE("the same move to an artifact compiled for 4096 tokens is rolled back for its shape limit", "[data]") {
  POOLCAST_NEED_DATA(trace, "traces/AzureLLMInferenceTrace_code.csv");
  const Comparison c = rehearsed(*trace, "trainium");
  REQUIRE(c.moves.size() == 1);
  CHECK(c.moves[0].rolled_back == 3);
  CHECK(c.verdict == Verdict::kNoGo);
  const MoveReport& move = c.moves[0].first.report;
  REQUIRE(move.causes.size() == 1);
  CHECK(move.causes[0].gate.what == MoveGate::What::kEligible);
  CHECK(move.steps[1].reasons[static_cast<std::size_t>(Reason::kContextLimit)] == move.steps[1].not_taken);
}
