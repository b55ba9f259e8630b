// SPDX-License-Identifier: Apache-2.0
// What the program does when it is called wrongly, cannot write, or is stopped.
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "tests/support/program.h"

using namespace poolcast::testing;

namespace {

const std::string kQuick = "scenarios/examples/quickstart.yaml";

/// Runs words of a shell command line; `$poolcast` is the program.
Ran in_shell(const std::string& script) {
  return Process({"bash", "-c", "poolcast=" + program_path() + "\n" + script}).wait();
}

}  // namespace

TEST_CASE("A wrong command line is told in one line with the nearest spelling, and exits with 2") {
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::string see_run = "\n`poolcast run --help` shows how it is called\n";
  const std::vector<Case> cases = {
      {{},
       "poolcast: no command; one of run, check, trace, catalog, live, policy, compare, qualify, explain, devices, "
       "kernels, calibrate, fit, validate, import, runner\n"},
      {{"rnu", "x.yaml"}, "poolcast: unknown command \"rnu\"; did you mean \"run\"?\n"},
      {{"trace", "stat"}, "poolcast trace: unknown command \"stat\"; did you mean \"stats\"?\n"},
      {{"trace"}, "poolcast trace: no command; one of stats, lint, convert, synth\n"},
      {{"run"}, "poolcast run: SCENARIO is required" + see_run},
      {{"run", kQuick, "--sead", "3"}, "poolcast run: unknown option \"--sead\"; did you mean \"--seed\"?" + see_run},
      {{"run", kQuick, "--sead=3"}, "poolcast run: unknown option \"--sead\"; did you mean \"--seed\"?" + see_run},
      {{"run", kQuick, "more.yaml"}, "poolcast run: unexpected argument \"more.yaml\"" + see_run},
      {{"run", kQuick, "--format", "xml"}, "poolcast run: --format: xml not in {text,json}" + see_run},
      {{"run", kQuick, "--out", ""}, "poolcast run: --out: the name of the folder is empty" + see_run},
      {{"policy", "list", "queue-scored"},
       "policy list: nothing is named \"queue-scored\"; did you mean \"queue-scorer\"?\n"},
      {{"run", "missing.yaml"}, "missing.yaml: cannot read the file: No such file or directory\n"},
  };
  for (const Case& wrong : cases) {
    const Ran ran = run_program(wrong.arguments);
    CHECK(ran.err == wrong.message);
    CHECK(ran.out == "");
    CHECK(ran.status == 2);
  }
}

TEST_CASE("policy list knows other spellings and what is not modelled, and keeps names and rules apart") {
  CHECK(run_program({"policy", "list", "round_robin"}).out == "round-robin: each candidate in turn\n");
  CHECK(run_program({"policy", "list", "disaggregated_prefill"}).out ==
        "pd: from AIBrix, production-stack, smg; not modelled: where prefill and decode are apart, `role` of\n"
        "pools says it\n");
  CHECK(run_program({"policy", "list", "token-producer"}).out ==
        "token-producer: from llm-d; not modelled: tokens are known here without it: leave it out\n");
  CHECK_THAT(run_program({"policy", "list"}).out,
             Catch::Contains("\n  prefix-or-least-request-filter filter (AIBrix)"));
  CHECK_THAT(run_program({"policy", "list", "dynamo-kv"}).out,
             Catch::Contains("\n  router-kv-overlap-score-credit blocks that"));
}

TEST_CASE("A seed that is no whole number is refused") {
  for (const char* seed : {"-1", "1.5", "x", "99999999999999999999"}) {
    const Ran ran = run_program({"run", kQuick, "--seed", seed});
    INFO(seed << ": " << ran.err);
    CHECK(ran.status == 2);
    CHECK(ran.err.find("--seed") != std::string::npos);
  }
}

TEST_CASE("Version and help go to stdout and exit with 0") {
  CHECK(run_program({"--version"}).out == "poolcast " POOLCAST_VERSION "\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run"}, {"check"}, {"compare"}, {"catalog"}, {"trace"}, {"trace", "stats"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("--help");
    const Ran ran = run_program(arguments);
    INFO(ran.out);
    CHECK(ran.status == 0);
    CHECK(ran.err == "");
    CHECK(ran.out.find("Example:\n  poolcast " + command.front()) != std::string::npos);
  }
}

TEST_CASE("The example of a command's help works as it is printed") {
  for (const std::string command : {"run", "check", "compare", "catalog"}) {
    const std::string help = run_program({command, "--help"}).out;
    const std::string lead = "Example:\n  poolcast ";
    REQUIRE(help.find(lead) != std::string::npos);
    const std::string example = help.substr(help.find(lead) + lead.size());
    const Ran ran = in_shell("$poolcast " + example);
    INFO(example << ran.err);
    CHECK(ran.status == 0);
  }
}

TEST_CASE("A full disk or a closed pipe behind stdout is noticed") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"run", kQuick},
                                                    {"run", kQuick, "--format", "json"},
                                                    {"check", kQuick},
                                                    {"catalog"},
                                                    {"--help"}}) {
    const Ran ran = Process(poolcast_command(arguments), "/dev/full").wait();
    CHECK(ran.status == 2);
    CHECK(ran.err == "stdout: cannot write: No space left on device\n");
  }
  const Ran piped = in_shell("$poolcast catalog | true; exit ${PIPESTATUS[0]}");
  CHECK(piped.status == 2);
  CHECK(piped.err == "stdout: cannot write: Broken pipe\n");
}

TEST_CASE("Result files are whole or not there: a limit on file sizes is told, the old files stay") {
  const TemporaryFolder folder;
  write_file(folder.file("summary.json"), "old summary");
  write_file(folder.file("results.h5"), "old results");
  const Ran ran = in_shell("ulimit -f 100\n$poolcast run " + kQuick + " --out " + folder.path().string());
  CHECK(ran.status == 2);
  CHECK(ran.err == folder.file("results.h5") + ": cannot write: File too large\n");
  CHECK(ran.out == "");
  CHECK(read_file(folder.file("summary.json")) == "old summary");
  CHECK(read_file(folder.file("results.h5")) == "old results");
  CHECK(folder.names() == std::vector<std::string>{"results.h5", "summary.json"});
}

TEST_CASE("A folder that cannot be written is told before the simulation starts") {
  const Ran ran =
      run_program({"run", kQuick, "--out", "/proc/nothing/here", "--set", "workload.synth.requests=1000000000"});
  CHECK(ran.status == 2);
  CHECK(ran.err == "/proc/nothing/here: cannot make the folder: No such file or directory\n");
}

TEST_CASE("An interrupted run exits with 128 plus the signal and leaves no half files") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const TemporaryFolder folder;
  write_file(folder.file("results.h5"), "old");
  Process process(poolcast_command(
      {"run", kQuick, "--out", folder.path().string(), "--set", "workload.synth.requests=1000000000"}));
  while (folder.names().size() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // both are begun
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(process.id(), signal);
  const Ran ran = process.wait();
  CHECK(ran.status == 128 + signal);
  CHECK(ran.out == "");
  CHECK(read_file(folder.file("results.h5")) == "old");
  CHECK(folder.names() == std::vector<std::string>{"results.h5"});
}

TEST_CASE("The next run into a folder removes what a killed one left there") {
  const TemporaryFolder folder;
  Process process(poolcast_command(
      {"run", kQuick, "--out", folder.path().string(), "--set", "workload.synth.requests=1000000000"}));
  while (folder.names().size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // both are begun
  ::kill(process.id(), SIGKILL);
  CHECK(process.wait().status == 128 + SIGKILL);
  CHECK(folder.names().size() == 2);
  CHECK(run_program({"run", kQuick, "--out", folder.path().string()}).status == 0);
  CHECK(folder.names() == std::vector<std::string>{"results.h5", "summary.json"});
}

TEST_CASE("A trace from a pipe is refused, since it is read twice") {
  const Ran ran = in_shell("printf 'timestamp_s,prompt_tokens,output_tokens\\n0,1,1\\n' | $poolcast run " + kQuick +
                           " --set workload.trace.file=/dev/stdin");
  CHECK(ran.status == 2);
  CHECK_THAT(ran.err, Catch::Contains("workload[0].trace.file: \"/dev/stdin\" is a pipe or a device; a trace is read "
                                      "twice and must be a regular file or a folder"));
}

TEST_CASE("--no-requests writes the summary alone and says when old results stand beside it") {
  const TemporaryFolder folder;
  const Ran first = run_program({"run", kQuick, "--no-requests", "--out", folder.file("a/b")});
  CHECK(first.status == 0);
  CHECK(first.err == "");
  CHECK(std::filesystem::exists(folder.file("a/b/summary.json")));
  CHECK_FALSE(std::filesystem::exists(folder.file("a/b/results.h5")));
  write_file(folder.file("a/b/results.h5"), "old");
  const Ran second = run_program({"run", kQuick, "--no-requests", "--out", folder.file("a/b")});
  CHECK(second.err == folder.file("a/b/results.h5") + ": of an earlier run; --no-requests leaves it as it is\n");
  CHECK(second.out == first.out);
}
