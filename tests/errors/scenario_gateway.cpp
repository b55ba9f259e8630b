// SPDX-License-Identifier: Apache-2.0
// Rules of the gateway, and retries.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using namespace poolcast::testing;

namespace {

/// The fault of `rules` beside the policy and weights of the gateway.
std::string fault_of_rules(const std::string& rules) {
  return fault("weights: {a: 3, b: 1}}", "weights: {a: 3, b: 1},\n    " + rules + "}");
}

std::string fault_of_retry(const std::string& retry) { return fault("slow: {}", "slow: {retry: " + retry + "}"); }

}  // namespace

TEST_CASE("fallbacks that go in a circle are an error that names it") {
  CHECK(fault_of_rules("fallbacks: {pools: {a: [b], b: [a]}}") ==
        R"(s.yaml:36:24: routing.gateway.fallbacks.pools: the fallbacks go in a circle: a -> b -> a
    fallbacks: {pools: {a: [b], b: [a]}}}
                       ^)");
}

TEST_CASE("a pool that falls back to itself is an error") {
  CHECK(fault_of_rules("fallbacks: {pools: {a: [a]}}") ==
        R"(s.yaml:36:29: routing.gateway.fallbacks.pools.a[0]: falls back to itself
    fallbacks: {pools: {a: [a]}}}
                            ^)");
}

TEST_CASE("a fallback to a pool that does not exist is an error") {
  CHECK(fault_of_rules("fallbacks: {pools: {a: [bb]}}") ==
        R"(s.yaml:36:29: routing.gateway.fallbacks.pools.a[0]: no pool is named "bb"
    fallbacks: {pools: {a: [bb]}}}
                            ^ one of a, b)");
}

TEST_CASE("a fallback to a model that does not exist is an error") {
  CHECK(fault_of_rules("fallbacks: {models: {chat: [chta]}}") ==
        R"(s.yaml:36:33: routing.gateway.fallbacks.models.chat[0]: no model is named "chta"
    fallbacks: {models: {chat: [chta]}}}
                                ^ did you mean "chat"?)");
}

TEST_CASE("a priority for a pool that does not exist is an error") {
  CHECK(fault_of_rules("priorities: {c: 1}") ==
        R"(s.yaml:36:18: routing.gateway.priorities.c: unknown key
    priorities: {c: 1}}
                 ^ one of a, b)");
}

TEST_CASE("a priority that is no whole number is an error") {
  CHECK(fault_of_rules("priorities: {a: 1.5}") ==
        R"(s.yaml:36:21: routing.gateway.priorities.a: expected a whole number, got "1.5"
    priorities: {a: 1.5}}
                    ^)");
}

TEST_CASE("sticky sessions need weights") {
  CHECK(fault("policy: weighted, weights: {a: 3, b: 1}", "policy: random, sticky: session") ==
        R"(s.yaml:35:37: routing.gateway.sticky: sessions stay by their weights, and the policy is random
  gateway: {policy: random, sticky: session}
                                    ^)");
}

TEST_CASE("prices that the policy does not read are an error") {
  CHECK(fault_of_rules("prices: {a: $1/M}") ==
        R"(s.yaml:36:5: routing.gateway.prices: only the policy cost-based reads prices, and the policy is weighted
    prices: {a: $1/M}}
    ^)");
}

TEST_CASE("a price per token has its own unit") {
  CHECK(fault("policy: weighted, weights: {a: 3, b: 1}", "policy: cost-based, prices: {a: $1/h}") ==
        R"(s.yaml:35:47: routing.gateway.prices.a: unknown unit "/h" in "$1/h"
  gateway: {policy: cost-based, prices: {a: $1/h}}
                                              ^ one of /M)");
}

TEST_CASE("a length tier that ends before it begins is an error") {
  CHECK(fault_of_rules("length_tiers: {prompt_tokens: [100, 50], pools: a}") ==
        R"(s.yaml:36:35: routing.gateway.length_tiers[0].prompt_tokens: the range ends before it begins
    length_tiers: {prompt_tokens: [100, 50], pools: a}}
                                  ^)");
}

TEST_CASE("a second cooldown for a pool is an error") {
  CHECK(fault_of_rules("cooldowns: {}, circuit_breakers: {pools: b}") ==
        R"(s.yaml:36:38: routing.gateway.circuit_breakers[0]: pool b has a cooldown already
    cooldowns: {}, circuit_breakers: {pools: b}}
                                     ^)");
}

TEST_CASE("a cooldown of no time is an error") {
  CHECK(fault_of_rules("cooldowns: {cooldown_time: 0 s}") ==
        R"(s.yaml:36:32: routing.gateway.cooldowns[0].cooldown_time: must be above 0
    cooldowns: {cooldown_time: 0 s}}
                               ^)");
}

TEST_CASE("a reason that says nothing about a pool is no failure of it") {
  CHECK(fault_of_rules("cooldowns: {failures: [quota]}") ==
        R"(s.yaml:36:28: routing.gateway.cooldowns[0].failures[0]: unknown value "quota"
    cooldowns: {failures: [quota]}}
                           ^ one of queue_full, queue_timeout, saturated, stalled, timeout, patience, flow_queue_full, flow_expired)");
}

TEST_CASE("a quota of both requests and tokens is an error") {
  CHECK(fault_of_rules("quotas: {requests: 1, tokens: 2, per: 1 s}").find("requests") != std::string::npos);
}

TEST_CASE("a quota needs its interval") {
  CHECK(fault_of_rules("quotas: {requests: 1}") ==
        R"(s.yaml:36:13: routing.gateway.quotas[0]: missing key "per"
    quotas: {requests: 1}}
            ^)");
}

TEST_CASE("a quota that goes on to the next tier needs priorities") {
  CHECK(fault_of_rules("quotas: {requests: 1, per: 1 s, beyond: next-tier}") ==
        R"(s.yaml:36:45: routing.gateway.quotas[0].beyond: there is no next tier: the gateway has no priorities
    quotas: {requests: 1, per: 1 s, beyond: next-tier}}
                                            ^)");
}

TEST_CASE("a quota for a class that does not exist is an error") {
  CHECK(fault_of_rules("quotas: {class: fats, requests: 1, per: 1 s}") ==
        R"(s.yaml:36:21: routing.gateway.quotas[0].class: no class is named "fats"
    quotas: {class: fats, requests: 1, per: 1 s}}
                    ^ did you mean "fast"?)");
}

TEST_CASE("a mirror of a pool to itself is an error") {
  CHECK(fault_of_rules("mirror: {from: a, to: a}") ==
        R"(s.yaml:36:27: routing.gateway.mirror[0].to: is the pool whose requests are copied
    mirror: {from: a, to: a}}
                          ^)");
}

TEST_CASE("retries need their number") {
  CHECK(fault_of_retry("{budget: 10 %}") ==
        R"(s.yaml:18:23: models[0].contract.classes.slow.retry: missing key "max"
        slow: {retry: {budget: 10 %}}
                      ^)");
}

TEST_CASE("a longest backoff below the first is an error") {
  CHECK(fault_of_retry("{max: 2, backoff: 2 s, max_backoff: 1 s}") ==
        R"(s.yaml:18:59: models[0].contract.classes.slow.retry.max_backoff: is shorter than the first backoff, 2 s
        slow: {retry: {max: 2, backoff: 2 s, max_backoff: 1 s}}
                                                          ^)");
}

TEST_CASE("a budget above all requests is an error") {
  CHECK(fault_of_retry("{max: 2, budget: 120 %}").find("models[0].contract.classes.slow.retry.budget") !=
        std::string::npos);
}

TEST_CASE("a request that is too long cannot be mended by sending it again") {
  CHECK(fault_of_retry("{max: 2, reasons: context_limit}") ==
        R"(s.yaml:18:41: models[0].contract.classes.slow.retry.reasons[0]: unknown value "context_limit"
        slow: {retry: {max: 2, reasons: context_limit}}
                                        ^ one of queue_full, queue_timeout, saturated, stalled, timeout, patience, cooling_down, quota, no_eligible_pool, flow_queue_full, flow_expired)");
}

TEST_CASE("a pool that stands twice in a length tier is an error") {
  CHECK(fault_of_rules("length_tiers: {pools: [a, b, a]}") ==
        R"(s.yaml:36:34: routing.gateway.length_tiers[0].pools[2]: stands twice
    length_tiers: {pools: [a, b, a]}}
                                 ^)");
}
