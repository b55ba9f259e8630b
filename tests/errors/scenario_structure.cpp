// SPDX-License-Identifier: Apache-2.0
// Keys, sections and kinds of values.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

TEST_CASE("a version of the format that this program does not read is an error") {
  CHECK(fault("version: 1", "version: 2") ==
        R"(s.yaml:1:10: version: this program reads version 1, got "2"
version: 2
         ^)");
}

TEST_CASE("a version that is no number is an error") {
  CHECK(fault("version: 1", "version: one") ==
        R"(s.yaml:1:10: version: expected a whole number, got "one"
version: one
         ^)");
}

TEST_CASE("a missing version is an error") {
  CHECK(fault("version: 1\n", "") ==
        R"(s.yaml:1:1: missing key "version"
seed: 7
^)");
}

TEST_CASE("an unknown key at the top names the nearest") {
  CHECK(fault("routing:\n", "ruoting:\n") ==
        R"(s.yaml:34:1: ruoting: unknown key
ruoting:
^ did you mean "routing"?)");
}

TEST_CASE("a known key that is not modelled yet says so") {
  CHECK(fault("seed: 7", "failures: {from: a, to: b}") ==
        R"(s.yaml:2:1: failures: this key is known but not modelled yet
failures: {from: a, to: b}
^)");
}

TEST_CASE("a missing section is an error") {
  CHECK(fault("pools:\n", "polls:\n") ==
        R"(s.yaml:22:1: polls: unknown key
polls:
^ did you mean "pools"?)");
}

TEST_CASE("a list of no pools is an error") {
  CHECK(fault(R"(pools:
  - name: a
)",
              R"(pools: []
old:
  - name: a
)") ==
        R"(s.yaml:22:8: pools: needs at least one entry
pools: []
       ^)");
}

TEST_CASE("a seed below zero is an error") {
  CHECK(fault("seed: 7", "seed: -7") ==
        R"(s.yaml:2:7: seed: must be a whole number of at least 0, got "-7"
seed: -7
      ^)");
}

TEST_CASE("a seed above 2^63 is an error") {
  CHECK(fault("seed: 7", "seed: 99999999999999999999") ==
        R"(s.yaml:2:7: seed: must be a whole number from 0 to 9223372036854775807, got "99999999999999999999"
seed: 99999999999999999999
      ^)");
}

TEST_CASE("a key without a value is an error") {
  CHECK(fault("seed: 7", "seed:") ==
        R"(s.yaml:2:1: seed: has no value
seed:
^)");
}

TEST_CASE("a single value where a mapping is needed is an error") {
  CHECK(fault(R"(routing:
  gateway: {policy: weighted, weights: {a: 3, b: 1}})",
              "routing: weighted") ==
        R"(s.yaml:34:10: routing: expected a mapping, got a single value
routing: weighted
         ^)");
}

TEST_CASE("a list where a mapping is needed is an error") {
  CHECK(fault("layout: {tp: 1}", "layout: [tp, 1]") ==
        R"(s.yaml:25:13: pools[0].layout: expected a mapping, got a list
    layout: [tp, 1]
            ^)");
}

TEST_CASE("a mapping where a single value is needed is an error") {
  CHECK(fault("replicas: 2", "replicas: {count: 2}") ==
        R"(s.yaml:26:15: pools[0].replicas: expected a single value, got a mapping
    replicas: {count: 2}
              ^)");
}

TEST_CASE("a single value where a pair is needed is an error") {
  CHECK(fault("measure: {warm_up: 1 s}", "measure: {window: 1 s}") ==
        R"(s.yaml:36:19: measure.window: expected a list, got a single value
measure: {window: 1 s}
                  ^)");
}

TEST_CASE("a pair of three is an error") {
  CHECK(fault("measure: {warm_up: 1 s}", "measure: {window: [1 s, 2 s, 3 s]}") ==
        R"(s.yaml:36:19: measure.window: expected a pair [from, to], got 3 values
measure: {window: [1 s, 2 s, 3 s]}
                  ^)");
}

TEST_CASE("a window that ends before it begins is an error") {
  CHECK(fault("measure: {warm_up: 1 s}", "measure: {window: [20 s, 10 s]}") ==
        R"(s.yaml:36:19: measure.window: the measured time ends before it begins
measure: {window: [20 s, 10 s]}
                  ^)");
}

TEST_CASE("a window beside a warm-up is an error") {
  CHECK(fault("measure: {warm_up: 1 s}", "measure: {warm_up: 1 s, window: [20 s, 30 s]}") ==
        R"(s.yaml:36:11: measure.warm_up: stands beside "window", which says the same
measure: {warm_up: 1 s, window: [20 s, 30 s]}
          ^)");
}

TEST_CASE("an unknown part of the warm-up is an error") {
  CHECK(fault("measure: {warm_up: 1 s}", "measure: {warm_up: {tiem: 1 s}}") ==
        R"(s.yaml:36:21: measure.warm_up.tiem: unknown key
measure: {warm_up: {tiem: 1 s}}
                    ^ did you mean "time"?)");
}
