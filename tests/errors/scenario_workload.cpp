// SPDX-License-Identifier: Apache-2.0
// The section workload.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

TEST_CASE("a workload for a model that does not exist is an error") {
  CHECK(fault("- model: chat", "- model: chatt") ==
        R"(s.yaml:4:12: workload[0].model: no model is named "chatt"
  - model: chatt
           ^ did you mean "chat"?)");
}

TEST_CASE("a workload for a class that does not exist is an error") {
  CHECK(fault("class: fast", "class: fsat") ==
        R"(s.yaml:5:12: workload[0].class: model "chat" has no class "fsat"
    class: fsat
           ^ did you mean "fast"?)");
}

TEST_CASE("no class where the model has several is an error") {
  CHECK(fault("    class: fast\n", "") ==
        R"(s.yaml:4:5: workload[0]: missing key "class": model "chat" has several
  - model: chat
    ^)");
}

TEST_CASE("a workload without load is an error") {
  CHECK(fault(R"(    synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10
)",
              "") ==
        R"(s.yaml:4:5: workload[0]: needs one of trace, synth, closed_loop or sessions
  - model: chat
    ^)");
}

TEST_CASE("two kinds of load in one entry is an error") {
  CHECK(fault(R"(    synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              R"(    synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10
    closed_loop: {users: 3})") ==
        R"(s.yaml:11:5: workload[0].closed_loop: stands beside "synth", and only one of them can hold
    closed_loop: {users: 3}
    ^)");
}

TEST_CASE("load that never ends is an error") {
  CHECK(fault("      requests: 10\n", "") ==
        R"(s.yaml:7:7: workload[0].synth: needs requests or duration, or it would never end
      arrivals: {process: poisson, rate: 5/s}
      ^)");
}

TEST_CASE("load without end by its own words is an error") {
  CHECK(fault("requests: 10", "duration: none") ==
        R"(s.yaml:7:17: workload[0].synth.duration: without requests the load must end at some time
      duration: none
                ^)");
}

TEST_CASE("a missing length is an error") {
  CHECK(fault("      output_tokens: 10\n", "") ==
        R"(s.yaml:7:7: workload[0].synth: missing key "output_tokens"
      requests: 10
      ^)");
}

TEST_CASE("a length of zero is an error") {
  CHECK(fault("output_tokens: 10", "output_tokens: 0") ==
        R"(s.yaml:10:22: workload[0].synth.output_tokens: must be a whole number from 1 to 1000000000, got "0"
      output_tokens: 0
                     ^)");
}

TEST_CASE("an unknown distribution is an error") {
  CHECK(fault("lognormal", "lognromal") ==
        R"(s.yaml:9:37: workload[0].synth.prompt_tokens.distribution: unknown value "lognromal"
      prompt_tokens: {distribution: lognromal, mean: 100, cv: 0.5}
                                    ^ did you mean "lognormal"?)");
}

TEST_CASE("a parameter that its distribution does not have is an error") {
  CHECK(fault("{distribution: lognormal, mean: 100, cv: 0.5}", "{distribution: exponential, mean: 100, cv: 0.5}") ==
        R"(s.yaml:9:61: workload[0].synth.prompt_tokens.cv: unknown key
      prompt_tokens: {distribution: exponential, mean: 100, cv: 0.5}
                                                            ^ one of distribution, max, mean, min)");
}

TEST_CASE("a distribution without its parameter is an error") {
  CHECK(fault("{distribution: lognormal, mean: 100, cv: 0.5}", "{distribution: lognormal, mean: 100}") ==
        R"(s.yaml:9:22: workload[0].synth.prompt_tokens: missing key "cv"
      prompt_tokens: {distribution: lognormal, mean: 100}
                     ^)");
}

TEST_CASE("a uniform distribution without an end is an error") {
  CHECK(fault("{distribution: lognormal, mean: 100, cv: 0.5}", "{distribution: uniform, min: 5}") ==
        R"(s.yaml:9:22: workload[0].synth.prompt_tokens: a uniform distribution needs its "max"
      prompt_tokens: {distribution: uniform, min: 5}
                     ^)");
}

TEST_CASE("a smallest length above the largest is an error") {
  CHECK(fault("{distribution: lognormal, mean: 100, cv: 0.5}",
              "{distribution: exponential, mean: 100, min: 9, max: 3}") ==
        R"(s.yaml:9:22: workload[0].synth.prompt_tokens: min 9 is above max 3
      prompt_tokens: {distribution: exponential, mean: 100, min: 9, max: 3}
                     ^)");
}

TEST_CASE("an empirical table with every weight zero is an error") {
  CHECK(fault("{distribution: lognormal, mean: 100, cv: 0.5}",
              "{distribution: empirical, table: [[100, 0], [200, 0]]}") ==
        R"(s.yaml:9:55: workload[0].synth.prompt_tokens.table: every weight is zero
      prompt_tokens: {distribution: empirical, table: [[100, 0], [200, 0]]}
                                                      ^)");
}

TEST_CASE("an empirical table with a row of three is an error") {
  CHECK(fault("{distribution: lognormal, mean: 100, cv: 0.5}", "{distribution: empirical, table: [[100, 1, 1]]}") ==
        R"(s.yaml:9:56: workload[0].synth.prompt_tokens.table[0]: expected [tokens, weight], got 3 values
      prompt_tokens: {distribution: empirical, table: [[100, 1, 1]]}
                                                       ^)");
}

TEST_CASE("an empirical table without rows is an error") {
  CHECK(fault("{distribution: lognormal, mean: 100, cv: 0.5}", "{distribution: empirical, table: []}") ==
        R"(s.yaml:9:55: workload[0].synth.prompt_tokens.table: needs at least one row
      prompt_tokens: {distribution: empirical, table: []}
                                                      ^)");
}

TEST_CASE("an empirical file that is not there is an error") {
  CHECK(
      fault("{distribution: lognormal, mean: 100, cv: 0.5}", "{distribution: empirical, file: no-such-lengths.csv}") ==
      R"(no-such-lengths.csv: cannot read the file: No such file or directory)");
}

TEST_CASE("an unknown arrival process is an error") {
  CHECK(fault("process: poisson", "process: posson") ==
        R"(s.yaml:8:27: workload[0].synth.arrivals.process: unknown value "posson"
      arrivals: {process: posson, rate: 5/s}
                          ^ did you mean "poisson"?)");
}

TEST_CASE("a gamma process without its cv is an error") {
  CHECK(fault("{process: poisson, rate: 5/s}", "{process: gamma, rate: 5/s}") ==
        R"(s.yaml:8:17: workload[0].synth.arrivals: missing key "cv"
      arrivals: {process: gamma, rate: 5/s}
                ^)");
}

TEST_CASE("pieces out of order is an error") {
  CHECK(
      fault("{process: poisson, rate: 5/s}", "{process: piecewise, pieces: [[0 s, 5/s], [60 s, 9/s], [30 s, 1/s]]}") ==
      R"(s.yaml:8:73: workload[0].synth.arrivals.pieces[2][0]: must be later than the piece before it
      arrivals: {process: piecewise, pieces: [[0 s, 5/s], [60 s, 9/s], [30 s, 1/s]]}
                                                                        ^)");
}

TEST_CASE("pieces in which nothing arrives is an error") {
  CHECK(fault("{process: poisson, rate: 5/s}", "{process: piecewise, pieces: [[0 s, 0/s], [60 s, 0/s]]}") ==
        R"(s.yaml:8:46: workload[0].synth.arrivals.pieces: every rate is zero: nothing would arrive
      arrivals: {process: piecewise, pieces: [[0 s, 0/s], [60 s, 0/s]]}
                                             ^)");
}

TEST_CASE("an on-off process that is never on is an error") {
  CHECK(fault("{process: poisson, rate: 5/s}", "{process: on-off, rate: 5/s, on: 0 s, off: 1 s}") ==
        R"(s.yaml:8:50: workload[0].synth.arrivals.on: must be above 0 s, got "0 s"
      arrivals: {process: on-off, rate: 5/s, on: 0 s, off: 1 s}
                                                 ^)");
}

TEST_CASE("a diurnal amplitude above one is an error") {
  CHECK(fault("{process: poisson, rate: 5/s}", "{process: diurnal, rate: 5/s, amplitude: 1.5}") ==
        R"(s.yaml:8:58: workload[0].synth.arrivals.amplitude: must be at most 1, that is 100 %, got "1.5"
      arrivals: {process: diurnal, rate: 5/s, amplitude: 1.5}
                                                         ^)");
}

TEST_CASE("a closed loop without users is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "closed_loop: {users: 0, requests: 5, prompt_tokens: 5, output_tokens: 5}") ==
        R"(s.yaml:6:26: workload[0].closed_loop.users: must be a whole number from 1 to 10000000, got "0"
    closed_loop: {users: 0, requests: 5, prompt_tokens: 5, output_tokens: 5}
                         ^)");
}

TEST_CASE("an unknown think time is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "closed_loop: {users: 1, requests: 5, think_time: {distribution: gamma, mean: 1 s}, prompt_tokens: 5, "
              "output_tokens: 5}") ==
        R"(s.yaml:6:69: workload[0].closed_loop.think_time.distribution: unknown value "gamma"
ed_loop: {users: 1, requests: 5, think_time: {distribution: gamma, mean: 1 s}, prompt_tokens: 5, output_tokens: 5}
                                                            ^ one of fixed, exponential, lognormal)");
}

TEST_CASE("sessions without turns is an error") {
  CHECK(
      fault(
          R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
          "sessions: {sessions: 5, arrivals: {rate: 1/s}, first_prompt_tokens: 9, turn_tokens: 9, output_tokens: 9}") ==
      R"(s.yaml:6:15: workload[0].sessions: missing key "turns"
    sessions: {sessions: 5, arrivals: {rate: 1/s}, first_prompt_tokens: 9, turn_tokens: 9, output_tokens: 9}
              ^)");
}

TEST_CASE("a limit of no requests at a time is an error") {
  CHECK(fault("    class: fast\n", R"(    class: fast
    max_concurrency: 0
)") ==
        R"(s.yaml:6:22: workload[0].max_concurrency: must be a whole number of at least 1, got "0"
    max_concurrency: 0
                     ^)");
}

TEST_CASE("a trace that is not there is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: no-such-trace.csv") ==
        R"(s.yaml:6:12: workload[0].trace: no such file; looked for "no-such-trace.csv"
    trace: no-such-trace.csv
           ^)");
}

TEST_CASE("a trace without its file is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {format: azure}") ==
        R"(s.yaml:6:12: workload[0].trace: missing key "file"
    trace: {format: azure}
           ^)");
}

TEST_CASE("an unknown trace format is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, format: azur}") ==
        R"(s.yaml:6:30: workload[0].trace.format: unknown value "azur"
    trace: {file: /, format: azur}
                             ^ did you mean "azure"?)");
}

TEST_CASE("a trace with a rate scale of zero is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, rate_scale: 0}") ==
        R"(s.yaml:6:34: workload[0].trace.rate_scale: must be above 0, got "0"
    trace: {file: /, rate_scale: 0}
                                 ^)");
}

TEST_CASE("a trace window that ends before it begins is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, time_window: [30 min, 0 s]}") ==
        R"(s.yaml:6:35: workload[0].trace.time_window: the window ends before it begins
    trace: {file: /, time_window: [30 min, 0 s]}
                                  ^)");
}

TEST_CASE("a trace filter that ends before it begins is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, filter: {prompt_tokens: [9, 3]}}") ==
        R"(s.yaml:6:46: workload[0].trace.filter.prompt_tokens: the range ends before it begins
    trace: {file: /, filter: {prompt_tokens: [9, 3]}}
                                             ^)");
}

TEST_CASE("an unknown treatment of bad rows is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, on_bad_row: ignore}") ==
        R"(s.yaml:6:34: workload[0].trace.on_bad_row: unknown value "ignore"
    trace: {file: /, on_bad_row: ignore}
                                 ^ one of stop, skip)");
}

TEST_CASE("a time unit of zero is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, time_unit: 0 s}") ==
        R"(s.yaml:6:33: workload[0].trace.time_unit: must be above 0 s, got "0 s"
    trace: {file: /, time_unit: 0 s}
                                ^)");
}

TEST_CASE("a limit of no rows is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, limit: 0}") ==
        R"(s.yaml:6:29: workload[0].trace.limit: must be a whole number of at least 1, got "0"
    trace: {file: /, limit: 0}
                            ^)");
}

TEST_CASE("a trace that is no plain file is an error") {
  CHECK(
      fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
            "trace: /dev/null") ==
      R"(s.yaml:6:12: workload[0].trace: "/dev/null" is a pipe or a device; a trace is read twice and must be a regular file or a folder
    trace: /dev/null
           ^)");
}

TEST_CASE("a quantum of timestamps that are not spread is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, quantum: 1 s}") ==
        R"(s.yaml:6:31: workload[0].trace.quantum: has no effect without `spread: uniform`
    trace: {file: /, quantum: 1 s}
                              ^)");
}

TEST_CASE("timestamps that are spread in a replay of sessions is an error") {
  CHECK(fault(R"(synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10)",
              "trace: {file: /, spread: uniform, replay: sessions}") ==
        R"(s.yaml:6:47: workload[0].trace.replay: `spread: uniform` has no effect on a replay of sessions
    trace: {file: /, spread: uniform, replay: sessions}
                                              ^)");
}
