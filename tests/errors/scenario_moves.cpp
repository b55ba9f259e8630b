// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using namespace poolcast::testing;

namespace {

/// What is wrong with the sound scenario and this move.
std::string fault_of_move(const std::string& move) { return fault_of(sound_scenario() + "move: " + move + "\n"); }

}  // namespace

TEST_CASE("a sound move is no error") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}") == "no error");
}

TEST_CASE("a move from a pool that is not there names the nearest") {
  CHECK(fault_of_move("{from: aa, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}") ==
        R"(s.yaml:37:14: move[0].from: no pool is named "aa"
move: {from: aa, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}
             ^ one of a, b)");
}

TEST_CASE("a move must lead elsewhere") {
  CHECK(fault_of_move("{from: a, to: a, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}") ==
        R"(s.yaml:37:21: move[0].to: is where the traffic comes from
move: {from: a, to: a, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}
                    ^)");
}

TEST_CASE("a move of a class that the model does not have names the nearest") {
  CHECK(fault_of_move("{from: a, to: b, class: fats, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}") ==
        R"(s.yaml:37:31: move[0].class: model "chat" has no class "fats"
move: {from: a, to: b, class: fats, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}
                              ^ did you mean "fast"?)");
}

TEST_CASE("the shares of a move must rise") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}, {share: 10 %, for: 1 min}], gates: "
                      "{error_rate: 1 %}}") ==
        R"(s.yaml:37:67: move[0].steps[1].share: shares must rise: the step before has 0.1
move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}, {share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}
                                                                  ^)");
}

TEST_CASE("a step of a move says how long it takes") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %}], gates: {error_rate: 1 %}}") ==
        R"(s.yaml:37:32: move[0].steps[0]: missing key "for"
move: {from: a, to: b, steps: [{share: 10 %}], gates: {error_rate: 1 %}}
                               ^)");
}

TEST_CASE("a share is at most all of it") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 110 %, for: 1 min}], gates: {error_rate: 1 %}}") ==
        R"(s.yaml:37:40: move[0].steps[0].share: must be at most 1, that is 100 %, got "110 %"
move: {from: a, to: b, steps: [{share: 110 %, for: 1 min}], gates: {error_rate: 1 %}}
                                       ^)");
}

TEST_CASE("a move without steps is an error") {
  CHECK(fault_of_move("{from: a, to: b, steps: [], gates: {error_rate: 1 %}}") ==
        R"(s.yaml:37:31: move[0].steps: needs at least one step, such as {share: 10 %, for: 10 min}
move: {from: a, to: b, steps: [], gates: {error_rate: 1 %}}
                              ^)");
}

TEST_CASE("a move without gates is an error") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}]}") ==
        R"(s.yaml:37:7: move[0]: missing key "gates"
move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}]}
      ^)");
}

TEST_CASE("gates that no step can be judged by are an error") {
  CHECK(
      fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {cost: 5 %}}") ==
      R"(s.yaml:37:67: move[0].gates: needs a gate that a step can pass: ttft, tpot, itl, e2e, queue_delay, ntpot, error_rate or eligible
move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {cost: 5 %}}
                                                                  ^)");
}

TEST_CASE("an unknown gate names the nearest") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rat: 1 %}}") ==
        R"(s.yaml:37:68: move[0].gates.error_rat: unknown key
move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rat: 1 %}}
                                                                   ^ did you mean "error_rate"?)");
}

TEST_CASE("a gate of a percentile that is none is an error") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {ttft: {99: 1 s}}}") ==
        R"(s.yaml:37:75: move[0].gates.ttft.99: unknown percentile "99"
move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {ttft: {99: 1 s}}}
                                                                          ^ such as p50, p95, p99 or p99.9)");
}

TEST_CASE("a factor must be a number") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {ttft: {p99: twox}}}") ==
        R"(s.yaml:37:80: move[0].gates.ttft.p99: expected a factor such as 1.1x, got "twox"
move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {ttft: {p99: twox}}}
                                                                               ^)");
}

TEST_CASE("a gate of correctness needs a threshold") {
  CHECK(fault_of_move(
            "{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {correctness: true, error_rate: 1 %}}") ==
        R"(s.yaml:37:81: move[0].gates.correctness: model "chat" has no evaluation threshold: write {threshold: 0.86}
move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {correctness: true, error_rate: 1 %}}
                                                                                ^)");
}

TEST_CASE("a roll-back must fall") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}, roll_back: "
                      "[{share: 1 %, for: 1 s}, {share: 2 %, for: 1 s}]}") ==
        R"(s.yaml:37:130: move[0].roll_back[1].share: shares must fall: the one before is 0.01
ror_rate: 1 %}, roll_back: [{share: 1 %, for: 1 s}, {share: 2 %, for: 1 s}]}
                                                            ^)");
}

TEST_CASE("a roll-back ends at nothing") {
  CHECK(fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}, roll_back: "
                      "[{share: 1 %, for: 1 s}]}") ==
        R"(s.yaml:37:97: move[0].roll_back: must end with {share: 0}
e: 10 %, for: 1 min}], gates: {error_rate: 1 %}, roll_back: [{share: 1 %, for: 1 s}]}
                                                            ^)");
}

TEST_CASE("an unknown way to be sticky lists those that are known") {
  CHECK(
      fault_of_move("{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}, sticky: cookie}") ==
      R"(s.yaml:37:94: move[0].sticky: unknown value "cookie"
move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}, sticky: cookie}
                                                                                             ^ one of session, user, request, none)");
}

TEST_CASE("two moves of the same traffic are an error") {
  CHECK(fault_of_move("[{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}, {from: a, to: "
                      "b, class: fast, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}]") ==
        R"(s.yaml:37:95: move[1].from: another move takes the same traffic from this pool
hare: 10 %, for: 1 min}], gates: {error_rate: 1 %}}, {from: a, to: b, class: fast, steps: [{share: 10 %, for: 1 min}], g
                                                            ^)");
}

TEST_CASE("moves in a circle are an error that shows it") {
  CHECK(fault_of_move("[{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}, {from: b, to: "
                      "a, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}]") ==
        R"(s.yaml:37:22: move[0].to: the moves go in a circle: a -> b -> a
move: [{from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}, {from: b, to: a, steps: [{share: 
                     ^)");
}
