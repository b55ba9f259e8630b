// SPDX-License-Identifier: Apache-2.0
// The section models.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

TEST_CASE("an unknown catalog model is an error") {
  CHECK(fault("shape: llama-3.1-8b", "shape: llama-3.1-7b") ==
        R"(s.yaml:13:12: models[0].shape: the catalog has no model "llama-3.1-7b"
    shape: llama-3.1-7b
           ^ did you mean "llama-3.1-8b"?)");
}

TEST_CASE("an inline shape without a size is an error") {
  CHECK(fault("shape: llama-3.1-8b", "shape: {layers: 32, hidden: 4096, heads: 32, intermediate: 14336}") ==
        R"(s.yaml:13:12: models[0].shape: missing key "vocab"
    shape: {layers: 32, hidden: 4096, heads: 32, intermediate: 14336}
           ^)");
}

TEST_CASE("an inline shape whose heads do not divide is an error") {
  CHECK(fault("shape: llama-3.1-8b", "shape: {base: llama-3.1-8b, kv_heads: 5}") ==
        R"(s.yaml:13:12: models[0].shape: kv_heads 5 does not divide heads 32
    shape: {base: llama-3.1-8b, kv_heads: 5}
           ^)");
}

TEST_CASE("more experts per token than experts is an error") {
  CHECK(fault("shape: llama-3.1-8b",
              "shape: {base: llama-3.1-8b, moe: {experts: 4, experts_per_token: 8, intermediate: 64}}") ==
        R"(s.yaml:13:38: models[0].shape.moe: experts_per_token 8 is above experts 4
    shape: {base: llama-3.1-8b, moe: {experts: 4, experts_per_token: 8, intermediate: 64}}
                                     ^)");
}

TEST_CASE("an unknown objective is an error") {
  CHECK(fault("ttft: {p99: 2 s}", "tttf: {p99: 2 s}") ==
        R"(s.yaml:17:29: models[0].contract.classes.fast.objectives.tttf: unknown key
        fast: {objectives: {tttf: {p99: 2 s}}}
                            ^ did you mean "ttft"?)");
}

TEST_CASE("an objective that is no percentile is an error") {
  CHECK(fault("ttft: {p99: 2 s}", "ttft: {mean: 2 s}") ==
        R"(s.yaml:17:36: models[0].contract.classes.fast.objectives.ttft.mean: unknown percentile "mean"
        fast: {objectives: {ttft: {mean: 2 s}}}
                                   ^ such as p50, p95, p99 or p99.9)");
}

TEST_CASE("an objective at the hundredth percentile is an error") {
  CHECK(fault("ttft: {p99: 2 s}", "ttft: {p100: 2 s}") ==
        R"(s.yaml:17:36: models[0].contract.classes.fast.objectives.ttft.p100: unknown percentile "p100"
        fast: {objectives: {ttft: {p100: 2 s}}}
                                   ^ such as p50, p95, p99 or p99.9)");
}

TEST_CASE("a context limit of zero is an error") {
  CHECK(fault("{context: 8192}", "{context: 0}") ==
        R"(s.yaml:15:25: models[0].contract.limits.context: must be a whole number from 1 to 1000000000, got "0"
      limits: {context: 0}
                        ^)");
}

TEST_CASE("an unknown answer to requests that are too long is an error") {
  CHECK(fault("      limits: {context: 8192}\n", R"(      limits: {context: 8192}
      on_too_long: crash
)") ==
        R"(s.yaml:16:20: models[0].contract.on_too_long: unknown value "crash"
      on_too_long: crash
                   ^ one of reject, truncate)");
}

TEST_CASE("an implementation on a pool that does not exist is an error") {
  CHECK(fault("{pool: a, precision: fp8}", "{pool: aa, precision: fp8}") ==
        R"(s.yaml:20:16: models[0].implementations[0].pool: no pool is named "aa"
      - {pool: aa, precision: fp8}
               ^ one of a, b)");
}

TEST_CASE("an implementation twice on one pool is an error") {
  CHECK(fault("- {pool: b}", "- {pool: a}") ==
        R"(s.yaml:21:16: models[0].implementations[1].pool: pool "a" stands twice
      - {pool: a}
               ^)");
}

TEST_CASE("an unknown precision is an error") {
  CHECK(fault("precision: fp8", "precision: fp16") ==
        R"(s.yaml:20:30: models[0].implementations[0].precision: unknown value "fp16"
      - {pool: a, precision: fp16}
                             ^ one of bf16, fp8, int8, fp4)");
}

TEST_CASE("an unknown status is an error") {
  CHECK(fault("- {pool: b}", "- {pool: b, status: prodution}") ==
        R"(s.yaml:21:27: models[0].implementations[1].status: unknown value "prodution"
      - {pool: b, status: prodution}
                          ^ did you mean "production"?)");
}

TEST_CASE("a pool that no model is on is an error") {
  CHECK(fault("      - {pool: b}\n", "") ==
        R"(s.yaml:29:11: pools[1].name: no model has an implementation on pool "b"
  - name: b
          ^)");
}

TEST_CASE("a pool with two models is an error") {
  CHECK(
      fault("pools:\n", R"(  - {name: other, shape: llama-3.1-8b, implementations: [{pool: b}]}
pools:
)") ==
      R"(s.yaml:22:65: models[1].implementations[0].pool: pool "b" serves model "chat" already; a pool serves one model
  - {name: other, shape: llama-3.1-8b, implementations: [{pool: b}]}
                                                                ^)");
}

TEST_CASE("several models of which one does not say where it runs is an error") {
  CHECK(fault("pools:\n", R"(  - {name: other, shape: llama-3.1-8b}
pools:
)") ==
        R"(s.yaml:22:5: models[1]: missing key "implementations": with several models each says which pools serve it
  - {name: other, shape: llama-3.1-8b}
    ^)");
}

TEST_CASE("two models of one name is an error") {
  CHECK(fault("pools:\n", R"(  - {name: chat, shape: llama-3.1-8b, implementations: [{pool: b}]}
pools:
)") ==
        R"(s.yaml:22:12: models[1].name: the name "chat" is taken in line 12
  - {name: chat, shape: llama-3.1-8b, implementations: [{pool: b}]}
           ^)");
}

TEST_CASE("a model without a name is an error") {
  CHECK(fault(R"(name: chat
    shape)",
              R"(name: ""
    shape)") ==
        R"(s.yaml:12:11: models[0].name: a name cannot be empty
  - name: ""
          ^)");
}

TEST_CASE("a model without a shape, where the KV blocks are to be computed is an error") {
  CHECK(
      fault("    shape: llama-3.1-8b\n", "") ==
      R"(s.yaml:22:5: pools[0]: model "chat" has no shape; without it the size of the KV cache is unknown, so state num_gpu_blocks_override
  - name: a
    ^)");
}
