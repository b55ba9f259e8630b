// SPDX-License-Identifier: Apache-2.0
// Numbers that are none, or out of bounds.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

TEST_CASE("replicas below zero is an error") {
  CHECK(fault("replicas: 2", "replicas: -2") ==
        R"(s.yaml:26:15: pools[0].replicas: must be a whole number from 1 to 1000000, got "-2"
    replicas: -2
              ^)");
}

TEST_CASE("no replicas is an error") {
  CHECK(fault("replicas: 2", "replicas: 0") ==
        R"(s.yaml:26:15: pools[0].replicas: must be a whole number from 1 to 1000000, got "0"
    replicas: 0
              ^)");
}

TEST_CASE("more replicas than can be counted is an error") {
  CHECK(fault("replicas: 2", "replicas: 3000000000") ==
        R"(s.yaml:26:15: pools[0].replicas: must be a whole number from 1 to 1000000, got "3000000000"
    replicas: 3000000000
              ^)");
}

TEST_CASE("a fraction of a replica is an error") {
  CHECK(fault("replicas: 2", "replicas: 2.5") ==
        R"(s.yaml:26:15: pools[0].replicas: expected a whole number, got "2.5"
    replicas: 2.5
              ^)");
}

TEST_CASE("replicas that are no number is an error") {
  CHECK(fault("replicas: 2", "replicas: two") ==
        R"(s.yaml:26:15: pools[0].replicas: expected a whole number, got "two"
    replicas: two
              ^)");
}

TEST_CASE("replicas that are not a number is an error") {
  CHECK(fault("replicas: 2", "replicas: .nan") ==
        R"(s.yaml:26:15: pools[0].replicas: expected a whole number, got ".nan"
    replicas: .nan
              ^)");
}

TEST_CASE("an integer beyond 64 bits is an error") {
  CHECK(
      fault("requests: 10", "requests: 18446744073709551616") ==
      R"(s.yaml:7:17: workload[0].synth.requests: must be a whole number from 1 to 9223372036854775807, got "18446744073709551616"
      requests: 18446744073709551616
                ^)");
}

TEST_CASE("a real beyond the doubles is an error") {
  CHECK(fault("requests: 10", "requests: 1e400") ==
        R"(s.yaml:7:17: workload[0].synth.requests: must be a whole number from 1 to 9223372036854775807, got "1e400"
      requests: 1e400
                ^)");
}

TEST_CASE("a count with a unit is an error") {
  CHECK(fault("requests: 10", "requests: 10 k") ==
        R"(s.yaml:7:17: workload[0].synth.requests: expected a whole number, got "10 k"
      requests: 10 k
                ^)");
}

TEST_CASE("an infinite weight is an error") {
  CHECK(fault("weights: {a: 3, b: 1}", "weights: {a: inf, b: 1}") ==
        R"(s.yaml:35:44: routing.gateway.weights.a: expected a finite number, got "inf"
  gateway: {policy: weighted, weights: {a: inf, b: 1}}
                                           ^)");
}

TEST_CASE("a weight that is not a number is an error") {
  CHECK(fault("weights: {a: 3, b: 1}", "weights: {a: nan, b: 1}") ==
        R"(s.yaml:35:44: routing.gateway.weights.a: expected a finite number, got "nan"
  gateway: {policy: weighted, weights: {a: nan, b: 1}}
                                           ^)");
}

TEST_CASE("a weight beyond the doubles is an error") {
  CHECK(fault("weights: {a: 3, b: 1}", "weights: {a: 1e400, b: 1}") ==
        R"(s.yaml:35:44: routing.gateway.weights.a: expected a finite number, got "1e400"
  gateway: {policy: weighted, weights: {a: 1e400, b: 1}}
                                           ^)");
}

TEST_CASE("a weight below zero is an error") {
  CHECK(fault("weights: {a: 3, b: 1}", "weights: {a: -3, b: 1}") ==
        R"(s.yaml:35:44: routing.gateway.weights.a: must be at least 0, got "-3"
  gateway: {policy: weighted, weights: {a: -3, b: 1}}
                                           ^)");
}

TEST_CASE("a rate that is not finite is an error") {
  CHECK(fault("rate: 5/s", "rate: inf/s") ==
        R"(s.yaml:8:42: workload[0].synth.arrivals.rate: expected a rate such as "5/s", got "inf/s"
      arrivals: {process: poisson, rate: inf/s}
                                         ^)");
}

TEST_CASE("a rate beyond the doubles is an error") {
  CHECK(fault("rate: 5/s", "rate: 1e400/s") ==
        R"(s.yaml:8:42: workload[0].synth.arrivals.rate: the number in "1e400/s" is too large or too small
      arrivals: {process: poisson, rate: 1e400/s}
                                         ^)");
}

TEST_CASE("a rate of zero is an error") {
  CHECK(fault("rate: 5/s", "rate: 0/s") ==
        R"(s.yaml:8:42: workload[0].synth.arrivals.rate: must be above 0/s, got "0/s"
      arrivals: {process: poisson, rate: 0/s}
                                         ^)");
}

TEST_CASE("a rate that no clock can tell apart is an error") {
  CHECK(fault("rate: 5/s", "rate: 1e12/s") ==
        R"(s.yaml:8:42: workload[0].synth.arrivals.rate: must be at most 1e9/s, got "1e12/s"
      arrivals: {process: poisson, rate: 1e12/s}
                                         ^)");
}

TEST_CASE("a rate below zero is an error") {
  CHECK(fault("rate: 5/s", "rate: -5/s") ==
        R"(s.yaml:8:42: workload[0].synth.arrivals.rate: must not be negative, got "-5/s"
      arrivals: {process: poisson, rate: -5/s}
                                         ^)");
}

TEST_CASE("a mean of zero is an error") {
  CHECK(fault("mean: 100", "mean: 0") ==
        R"(s.yaml:9:54: workload[0].synth.prompt_tokens.mean: must be above 0, got "0"
      prompt_tokens: {distribution: lognormal, mean: 0, cv: 0.5}
                                                     ^)");
}

TEST_CASE("a mean that is not a number is an error") {
  CHECK(fault("mean: 100", "mean: nan") ==
        R"(s.yaml:9:54: workload[0].synth.prompt_tokens.mean: expected a finite number, got "nan"
      prompt_tokens: {distribution: lognormal, mean: nan, cv: 0.5}
                                                     ^)");
}

TEST_CASE("a coefficient of variation of zero is an error") {
  CHECK(fault("cv: 0.5", "cv: 0") ==
        R"(s.yaml:9:63: workload[0].synth.prompt_tokens.cv: must be above 0, got "0"
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0}
                                                              ^)");
}

TEST_CASE("true or false, and nothing else is an error") {
  CHECK(fault(R"(args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
              R"(args: {max_num_seqs: 64, max_num_batched_tokens: 8192, enable_chunked_prefill: yes}}
    curves)") ==
        R"(s.yaml:27:122: pools[0].engine.args.enable_chunked_prefill: expected true or false, got "yes"
: 64, max_num_batched_tokens: 8192, enable_chunked_prefill: yes}}
                                                            ^)");
}
