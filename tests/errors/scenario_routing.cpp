// SPDX-License-Identifier: Apache-2.0
// The section routing.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

TEST_CASE("an unknown policy is an error") {
  CHECK(fault("policy: weighted, ", "policy: wieghted, ") ==
        R"(s.yaml:35:21: routing.gateway.policy: unknown value "wieghted"
  gateway: {policy: wieghted, weights: {a: 3, b: 1}}
                    ^ did you mean "weighted"?)");
}

TEST_CASE("a policy far from any lists them all") {
  CHECK(fault("policy: weighted, weights: {a: 3, b: 1}", "policy: prefix-affinity") ==
        R"(s.yaml:35:21: routing.gateway.policy: unknown value "prefix-affinity"
  gateway: {policy: prefix-affinity}
                    ^ one of cost-based, device-aware-weighted, least-busy, least-request, power-of-two, priority-failover, random, round-robin, simple-shuffle, vllm-dplb, vllm-dplb-queue, weighted)");
}

TEST_CASE("parameters of a policy are checked, and a policy without any takes none") {
  const auto of = [](const std::string& pool) {
    return fault("gateway: {policy: weighted, weights: {a: 3, b: 1}}", "pool: " + pool);
  };
  CHECK(of("{policy: bucket, parameters: {balance_abs_threshold: -1}}") ==
        R"(s.yaml:35:62: routing.pool.parameters.balance_abs_threshold: must be in [0, inf), got -1
  pool: {policy: bucket, parameters: {balance_abs_threshold: -1}}
                                                             ^)");
  CHECK(of("{policy: bucket, parameters: {balance_abs: 1}}") ==
        R"(s.yaml:35:39: routing.pool.parameters.balance_abs: unknown key
  pool: {policy: bucket, parameters: {balance_abs: 1}}
                                      ^ did you mean "balance_abs_threshold"?)");
  CHECK(of("{policy: least-busy-time, parameters: {window: 5}}") ==
        R"(s.yaml:35:48: routing.pool.parameters.window: unknown key
  pool: {policy: least-busy-time, parameters: {window: 5}}
                                               ^)");
  CHECK(of("{policy: slo-pack-load, parameters: {x: 5}}") ==
        R"(s.yaml:35:46: routing.pool.parameters.x: unknown key
  pool: {policy: slo-pack-load, parameters: {x: 5}}
                                             ^)");
}

TEST_CASE("a policy that is known and not modelled says why") {
  CHECK(
      fault("gateway: {policy: weighted, weights: {a: 3, b: 1}}", "pool: {policy: vtc-basic}") ==
      R"(s.yaml:35:18: routing.pool.policy: vtc-basic is not modelled: requests here have no tenants, and how their tokens choose a replica is not published; round-robin-fairness-policy of flow control takes the entries of the workload in turn
  pool: {policy: vtc-basic}
                 ^)");
}

TEST_CASE("vLLM's balancer needs pools whose engines publish what it reads") {
  CHECK(fault(R"(accelerator: mi300x
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    price: none
routing:
  gateway: {policy: weighted, weights: {a: 3, b: 1}})",
              R"(accelerator: mi300x
    engine: {kind: sglang, version: mainline-2026-07-20, args: {mem_fraction_static: 0.8}}
    price: none
routing:
  pool: {policy: vllm-dplb})") ==
        R"(s.yaml:35:18: routing.pool.policy: vllm-dplb reads the signals of vLLM, and pool b runs sglang
  pool: {policy: vllm-dplb}
                 ^)");
}

TEST_CASE("exact prefix matches need engines that have a prefix cache") {
  const std::string vllm = R"(accelerator: mi300x
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    price: none
routing:
  gateway: {policy: weighted, weights: {a: 3, b: 1}})";
  const std::string slots = R"(accelerator: trainium2
    engine: {kind: bucketed, version: neuron-2026-07-28, args: {max_num_seqs: 32, max_model_len: 4096}}
    price: none
routing:
)";
  CHECK(
      fault(vllm, slots + "  pools: {b: {policy: kv-aware}}") ==
      R"(s.yaml:35:23: routing.pools.b.policy: asks engines what their prefix caches hold, and those of pool b (bucketed) have none
  pools: {b: {policy: kv-aware}}
                      ^)");
  CHECK(
      fault(vllm, slots + R"(  pools:
    b:
      config:
        apiVersion: llm-d.ai/v1alpha1
        kind: EndpointPickerConfig
        plugins:
          - {type: queue-scorer}
          - {type: precise-prefix-cache-scorer})") ==
      R"(s.yaml:42:20: routing.pools.b.config.plugins[1].type: asks engines what their prefix caches hold, and those of pool b (bucketed) have none
          - {type: precise-prefix-cache-scorer}
                   ^)");
}

TEST_CASE("a weight for a pool that does not exist is an error") {
  CHECK(fault("weights: {a: 3, b: 1}", "weights: {a: 3, bb: 1}") ==
        R"(s.yaml:35:47: routing.gateway.weights.bb: unknown key
  gateway: {policy: weighted, weights: {a: 3, bb: 1}}
                                              ^ one of a, b)");
}

TEST_CASE("weights that sum to zero is an error") {
  CHECK(fault("weights: {a: 3, b: 1}", "weights: {a: 0, b: 0}") ==
        R"(s.yaml:35:40: routing.gateway.weights: every weight is zero: no pool would take traffic
  gateway: {policy: weighted, weights: {a: 0, b: 0}}
                                       ^)");
}

TEST_CASE("weights of replicas that leave no pool, and a policy of the gateway for a pool, are errors") {
  CHECK(fault("policy: weighted, weights: {a: 3, b: 1}", "policy: device-aware-weighted, weights: {a: 0, b: 0}") ==
        R"(s.yaml:35:53: routing.gateway.weights: every weight is zero: no pool would take traffic
  gateway: {policy: device-aware-weighted, weights: {a: 0, b: 0}}
                                                    ^)");
  CHECK(fault("policy: weighted, weights: {a: 3, b: 1}", "policy: device-aware-weighted, weights: {c: 1}") ==
        R"(s.yaml:35:54: routing.gateway.weights.c: unknown key
  gateway: {policy: device-aware-weighted, weights: {c: 1}}
                                                     ^ one of a, b)");
  CHECK(
      fault("gateway: {policy: weighted, weights: {a: 3, b: 1}}", "pool: {policy: device-aware-weighted}") ==
      R"(s.yaml:35:18: routing.pool.policy: device-aware-weighted chooses among pools: it is a policy of `routing.gateway`
  pool: {policy: device-aware-weighted}
                 ^)");
}

TEST_CASE("weights that the policy does not read is an error") {
  CHECK(
      fault("policy: weighted, ", "policy: round-robin, ") ==
      R"(s.yaml:35:34: routing.gateway.weights: only the policies weighted and device-aware-weighted read weights, and the policy is round-robin
  gateway: {policy: round-robin, weights: {a: 3, b: 1}}
                                 ^)");
}

TEST_CASE("routing for a pool that does not exist is an error") {
  CHECK(fault("measure:", R"(  pools: {c: {policy: random}}
measure:)") ==
        R"(s.yaml:36:11: routing.pools.c: unknown key
  pools: {c: {policy: random}}
          ^ one of a, b)");
}
