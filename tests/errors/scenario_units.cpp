// SPDX-License-Identifier: Apache-2.0
// Quantities and their units.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

TEST_CASE("an unknown unit points at the unit") {
  CHECK(fault("{warm_up: 1 s}", "{warm_up: 400 msec}") ==
        R"(s.yaml:36:24: measure.warm_up: unknown unit "msec" in "400 msec"
measure: {warm_up: 400 msec}
                       ^ did you mean "ms"?)");
}

TEST_CASE("a unit in the wrong case is an error") {
  CHECK(fault("accelerator: mi300x", "accelerator: {base: mi300x, memory_bandwidth: 5.3 Tb/s}") ==
        R"(s.yaml:31:55: pools[1].accelerator.memory_bandwidth: unknown unit "Tb/s" in "5.3 Tb/s"
    accelerator: {base: mi300x, memory_bandwidth: 5.3 Tb/s}
                                                      ^ did you mean "TB/s"?)");
}

TEST_CASE("a unit of another quantity lists the ones that fit") {
  CHECK(fault("accelerator: mi300x", "accelerator: {base: mi300x, memory: 192 litres}") ==
        R"(s.yaml:31:45: pools[1].accelerator.memory: unknown unit "litres" in "192 litres"
    accelerator: {base: mi300x, memory: 192 litres}
                                            ^ one of B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB)");
}

TEST_CASE("a unit that is left out is an error") {
  CHECK(fault("{warm_up: 1 s}", "{warm_up: 60}") ==
        R"(s.yaml:36:20: measure.warm_up: expected a duration with its unit, such as "400 ms", got "60"
measure: {warm_up: 60}
                   ^)");
}

TEST_CASE("a quantity without a number is an error") {
  CHECK(fault("{warm_up: 1 s}", "{warm_up: soon}") ==
        R"(s.yaml:36:20: measure.warm_up: expected a duration such as "400 ms", got "soon"
measure: {warm_up: soon}
                   ^)");
}

TEST_CASE("a duration below zero is an error") {
  CHECK(fault("{warm_up: 1 s}", "{warm_up: -1 s}") ==
        R"(s.yaml:36:20: measure.warm_up: must not be negative, got "-1 s"
measure: {warm_up: -1 s}
                   ^)");
}

TEST_CASE("a duration that is too long for the clock is an error") {
  CHECK(fault("{warm_up: 1 s}", "{warm_up: 1e10 s}") ==
        R"(s.yaml:36:20: measure.warm_up: must be at most 1e+09 s, got "1e10 s"
measure: {warm_up: 1e10 s}
                   ^)");
}

TEST_CASE("a duration that is not finite is an error") {
  CHECK(fault("{warm_up: 1 s}", "{warm_up: inf s}") ==
        R"(s.yaml:36:20: measure.warm_up: expected a duration such as "400 ms", got "inf s"
measure: {warm_up: inf s}
                   ^)");
}

TEST_CASE("a price without its currency is an error") {
  CHECK(fault("$2.10/h per device", "2.10/h per device") ==
        R"(s.yaml:29:23: pools[0].price.reserved: expected a price such as "$2.10/h per device", got "2.10/h per device"
    price: {reserved: 2.10/h per device}
                      ^)");
}

TEST_CASE("a price without its time is an error") {
  CHECK(fault("$2.10/h per device", "$2.10 per device") ==
        R"(s.yaml:29:29: pools[0].price.reserved: unknown unit "per device" in "$2.10 per device"
    price: {reserved: $2.10 per device}
                            ^ did you mean "/h per device"?)");
}

TEST_CASE("a price below zero is an error") {
  CHECK(fault("$2.10/h per device", "$-2.10/h per device") ==
        R"(s.yaml:29:23: pools[0].price.reserved: must not be negative, got "$-2.10/h per device"
    price: {reserved: $-2.10/h per device}
                      ^)");
}

TEST_CASE("a share above one is an error") {
  CHECK(fault("curves: roofline", "curves: {roofline: {memory_efficiency: 120 %}}") ==
        R"(s.yaml:28:44: pools[0].curves.roofline.memory_efficiency: must be at most 1, that is 100 %, got "120 %"
    curves: {roofline: {memory_efficiency: 120 %}}
                                           ^)");
}

TEST_CASE("a share with another unit is an error") {
  CHECK(fault("curves: roofline", "curves: {roofline: {memory_efficiency: 80 percent}}") ==
        R"(s.yaml:28:47: pools[0].curves.roofline.memory_efficiency: unknown unit "percent" in "80 percent"
    curves: {roofline: {memory_efficiency: 80 percent}}
                                              ^ one of %)");
}

TEST_CASE("a share of zero is an error") {
  CHECK(fault("curves: roofline", "curves: {roofline: {memory_efficiency: 0}}") ==
        R"(s.yaml:28:44: pools[0].curves.roofline.memory_efficiency: must be above 0, got "0"
    curves: {roofline: {memory_efficiency: 0}}
                                           ^)");
}

TEST_CASE("a figure of zero is an error") {
  CHECK(fault("accelerator: mi300x", "accelerator: {base: mi300x, memory: 0 GB}") ==
        R"(s.yaml:31:41: pools[1].accelerator.memory: must be above 0, got "0 GB"
    accelerator: {base: mi300x, memory: 0 GB}
                                        ^)");
}

TEST_CASE("a unit inside quotes is found too") {
  CHECK(fault("{warm_up: 1 s}", R"({warm_up: "400 msec"})") ==
        R"(s.yaml:36:25: measure.warm_up: unknown unit "msec" in "400 msec"
measure: {warm_up: "400 msec"}
                        ^ did you mean "ms"?)");
}
