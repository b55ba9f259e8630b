// SPDX-License-Identifier: Apache-2.0
// Contracts and implementations.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::changed;
using poolcast::testing::fault;
using poolcast::testing::fault_of;
using poolcast::testing::loaded;

namespace {

/// The fault of an implementation on pool b.
std::string of_implementation(const std::string& rest) { return fault("{pool: b}", "{pool: b, " + rest + "}"); }
/// The fault of a contract.
std::string of_contract(const std::string& line) {
  return fault("      limits: {context: 8192}\n", "      " + line + "\n");
}

}  // namespace

TEST_CASE("a digest that is none is an error") {
  CHECK(
      of_implementation("artifact: {name: x, digest: sha256:12}") ==
      R"(s.yaml:21:47: models[0].implementations[1].artifact.digest: expected sha256: and 64 hexadecimal digits, got "sha256:12"
      - {pool: b, artifact: {name: x, digest: sha256:12}}
                                              ^)");
}

TEST_CASE("a precision that contradicts the artifact is an error") {
  CHECK(of_implementation("artifact: {name: x, precision: fp8}, precision: bf16") ==
        R"(s.yaml:21:67: models[0].implementations[1].precision: contradicts the precision fp8 of the artifact
      - {pool: b, artifact: {name: x, precision: fp8}, precision: bf16}
                                                                  ^)");
}

TEST_CASE("an artifact for another layout is an error") {
  CHECK(
      of_implementation("artifact: {name: x, layout: {tp: 4}}") ==
      R"(s.yaml:21:47: models[0].implementations[1].artifact.layout: was built for tp 4 pp 1 dp 1 ep 1, and pool "b" has tp 1 pp 1 dp 1 ep 1
      - {pool: b, artifact: {name: x, layout: {tp: 4}}}
                                              ^)");
}

TEST_CASE("a shape without lengths is an error") {
  CHECK(of_implementation("shapes: {}") ==
        R"(s.yaml:21:27: models[0].implementations[1].shapes[0]: needs input or context: the compiled lengths
      - {pool: b, shapes: {}}
                          ^)");
}

TEST_CASE("a date that is none is an error") {
  CHECK(
      of_implementation("evaluation: {score: 0.9, date: 2026-13-01}") ==
      R"(s.yaml:21:50: models[0].implementations[1].evaluation[0].date: expected a date such as 2026-08-31, got "2026-13-01"
      - {pool: b, evaluation: {score: 0.9, date: 2026-13-01}}
                                                 ^)");
}

TEST_CASE("a day that its month does not have is an error") {
  for (const char* date : {"2026-02-29", "2100-02-29", "2026-04-31"}) {
    INFO(date);
    CHECK(of_implementation("evaluation: {score: 0.9, date: " + std::string(date) + "}").find("expected a date") !=
          std::string::npos);
  }
  CHECK_NOTHROW(loaded(changed("{pool: b}", "{pool: b, evaluation: {score: 0.9, date: 2024-02-29}}")));
}

TEST_CASE("a history that goes back is an error") {
  CHECK(
      of_implementation("history: [{date: 2026-08-02, event: x}, {date: 2026-08-01, event: y}]") ==
      R"(s.yaml:21:66: models[0].implementations[1].history[1].date: stands before the entry above it: a history goes forward
      - {pool: b, history: [{date: 2026-08-02, event: x}, {date: 2026-08-01, event: y}]}
                                                                 ^)");
}

TEST_CASE("an unknown limit is an error") {
  CHECK(of_implementation("limits: {contxt: 4}") ==
        R"(s.yaml:21:28: models[0].implementations[1].limits.contxt: unknown key
      - {pool: b, limits: {contxt: 4}}
                           ^ did you mean "context"?)");
}

TEST_CASE("a data_handling that the contract has not is an error") {
  CHECK(fault("slow: {}", "slow: {data_handling: eu}") ==
        R"(s.yaml:18:31: models[0].contract.classes.slow.data_handling: the contract has no data_handling "eu"
        slow: {data_handling: eu}
                              ^)");
}

TEST_CASE("a data_handling without a place is an error") {
  CHECK(of_contract("data_handling: {eu: {}}") ==
        R"(s.yaml:15:27: models[0].contract.data_handling.eu: needs regions or pools
      data_handling: {eu: {}}
                          ^)");
}

TEST_CASE("a data_handling with a pool that is not there is an error") {
  CHECK(of_contract("data_handling: {eu: {pools: [a, bb]}}") ==
        R"(s.yaml:15:39: models[0].contract.data_handling.eu.pools[1]: no pool is named "bb"
      data_handling: {eu: {pools: [a, bb]}}
                                      ^ one of a, b)");
}

TEST_CASE("an unknown reason of an error category is an error") {
  CHECK(of_contract("errors: {busy: {reasons: queue_ful}}") ==
        R"(s.yaml:15:32: models[0].contract.errors.busy.reasons[0]: unknown value "queue_ful"
      errors: {busy: {reasons: queue_ful}}
                               ^ did you mean "queue_full"?)");
}

TEST_CASE("a reason in two error categories is an error") {
  CHECK(of_contract("errors: {busy: {reasons: queue_full}, full: {reasons: queue_full}}") ==
        R"(s.yaml:15:61: models[0].contract.errors.full.reasons[0]: stands in another category, or twice
      errors: {busy: {reasons: queue_full}, full: {reasons: queue_full}}
                                                            ^)");
}

TEST_CASE("a compatibility pool that is not there is an error") {
  CHECK(of_contract("compatibility_pool: c") ==
        R"(s.yaml:15:27: models[0].contract.compatibility_pool: no pool is named "c"
      compatibility_pool: c
                          ^ one of a, b)");
}

TEST_CASE("a cost rule that limits nothing is an error") {
  CHECK(of_contract("cost: {at: {batch: 4}}") ==
        R"(s.yaml:15:13: models[0].contract.cost: needs per_million_tokens or margin
      cost: {at: {batch: 4}}
            ^)");
}

TEST_CASE("an amount without a dollar sign is an error") {
  CHECK(of_contract("cost: {per_million_tokens: 4}") ==
        R"(s.yaml:15:34: models[0].contract.cost.per_million_tokens: expected an amount such as "$2.50", got "4"
      cost: {per_million_tokens: 4}
                                 ^)");
}

TEST_CASE("an incumbent without a margin is an error") {
  CHECK(of_contract("cost: {per_million_tokens: $4, incumbent: a}") ==
        R"(s.yaml:15:49: models[0].contract.cost.incumbent: is only compared with where a margin is stated
      cost: {per_million_tokens: $4, incumbent: a}
                                                ^)");
}

TEST_CASE("an unknown piece of metadata is an error") {
  CHECK(of_contract("metadata: [pool, artefact]") ==
        R"(s.yaml:15:24: models[0].contract.metadata[1]: unknown value "artefact"
      metadata: [pool, artefact]
                       ^ did you mean "artifact"?)");
}

TEST_CASE("patience where nobody can cancel is an error") {
  std::string text = changed("      limits: {context: 8192}\n", "      cancellation: false\n");
  text.replace(text.find("slow: {}"), 8, "slow: {patience: 2 s}");
  CHECK(
      fault_of(text) ==
      R"(s.yaml:18:26: models[0].contract.classes.slow.patience: its users give up, and the contract lets nobody cancel
        slow: {patience: 2 s}
                         ^)");
}

TEST_CASE("a threshold that no share can reach is an error") {
  CHECK(fault("    implementations:", "    evaluation: {suite: s, threshold: 86}\n    implementations:") ==
        R"(s.yaml:19:39: models[0].evaluation.threshold: must be at most 1, got "86"
    evaluation: {suite: s, threshold: 86}
                                      ^)");
}

TEST_CASE("a score that no share can be is an error, and no missing evaluation") {
  CHECK(of_implementation("evaluation: {score: 87.4, samples: 4000}") ==
        R"(s.yaml:21:39: models[0].implementations[1].evaluation[0].score: must be at most 1, got "87.4"
      - {pool: b, evaluation: {score: 87.4, samples: 4000}}
                                      ^)");
}

TEST_CASE("a confidence below one half is an error") {
  CHECK(fault("    implementations:",
              "    evaluation: {suite: s, threshold: 0.9, confidence: 40 %}\n    implementations:") ==
        R"(s.yaml:19:56: models[0].evaluation.confidence: must be from 50 % to below 100 %, got "40 %"
    evaluation: {suite: s, threshold: 0.9, confidence: 40 %}
                                                       ^)");
}

TEST_CASE("a category of errors without a reason is an error") {
  CHECK(of_contract("errors: {busy: {reasons: [], retry: true}}") ==
        R"(s.yaml:15:22: models[0].contract.errors.busy: needs at least one reason
      errors: {busy: {reasons: [], retry: true}}
                     ^)");
}

TEST_CASE("a retry for a reason that the contract lets nobody try again is an error") {
  const auto fault_of_retry = [](const std::string& reasons, const std::string& retry) {
    std::string text = changed("slow: {}", "slow: {retry: " + retry + "}");
    const std::string at = "      limits: {context: 8192}\n";
    return fault_of(text.insert(text.find(at), "      errors: {busy: {reasons: " + reasons + "}}\n"));
  };
  CHECK(
      fault_of_retry("[queue_full, saturated]", "{max: 2, reasons: [timeout, saturated]}") ==
      R"(s.yaml:19:41: models[0].contract.classes.slow.retry.reasons: saturated is in the category "busy" of the contract, which lets nobody try again
        slow: {retry: {max: 2, reasons: [timeout, saturated]}}
                                        ^)");
  CHECK(fault_of_retry(
            "[queue_full, queue_timeout, saturated, stalled, timeout, cooling_down, flow_queue_full, flow_expired]",
            "{max: 2}") ==
        R"(s.yaml:19:23: models[0].contract.classes.slow.retry: the contract lets nobody try again, whatever the reason
        slow: {retry: {max: 2}}
                      ^)");
}
