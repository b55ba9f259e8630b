// SPDX-License-Identifier: Apache-2.0
#include "calibration/runner_client.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "scenarios/error.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::calibration;

namespace {

std::vector<std::string> fake(const std::string& behaviour, const std::string& state = "") {
  return {"python3", POOLCAST_SOURCE_DIR "/tests/units/calibration/fake_runner.py", behaviour, state};
}

RunRequest product(std::int64_t m) {
  RunRequest request;
  request.problem = *kernels::parse_problem("gemm bf16 m=" + std::to_string(m) + " n=64 k=64").problem;
  request.repetitions = 3;
  return request;
}

/// What a runner that misbehaves at m = 7 is told to have done; shapes before and after must be measured.
std::string failure_of(const std::string& behaviour, double wait_s = 20) {
  RunnerClient client(fake(behaviour), {20, wait_s, 3});
  CHECK(client.run(product(6)).result);
  const RunOutcome bad = client.run(product(7));
  CHECK_FALSE(bad.result);
  CHECK(client.run(product(8)).result);
  return bad.failure;
}

}  // namespace

TEST_CASE("a sound runner is described and gives as many samples as were asked for") {
  RunnerClient client(fake("sound"));
  CHECK(client.describe().device == "fake device sound");
  CHECK(client.describe().kernels.at(0).kernel == "formula");
  const RunOutcome outcome = client.run(product(10));
  REQUIRE(outcome.result);
  CHECK(outcome.result->wall_ns == std::vector<double>{1200, 1200, 1200});
  CHECK(outcome.result->error == 0.01);
  CHECK(client.restarted() == 0);
}

TEST_CASE("a runner that fails at a shape costs that shape alone") {
  CHECK(failure_of("dies") == "the runner ended (exit status 3)");
  CHECK(failure_of("hangs", 0.5) == "the runner gave no answer within 0.5 s");
  CHECK(failure_of("rubbish") == "the runner printed something else: \"Segmentation fault (core dumped)\"");
  CHECK(failure_of("unsupported") == "unsupported: m must not be 7");
}

TEST_CASE("an answer that cannot be true costs its shape alone") {
  CHECK_THAT(failure_of("nan"), Catch::StartsWith("the runner printed something else"));
  CHECK(failure_of("nan_result") == "wrong result: error inf, allowed 0.1");
  CHECK(failure_of("wrong") == "wrong result: error 0.5, allowed 0.1");
  CHECK(failure_of("unchecked") == "the error against the reference is missing");
  CHECK(failure_of("few") == "2 samples instead of 3");
  CHECK_THAT(failure_of("slow_units"), Catch::EndsWith("wrong units?") && Catch::StartsWith("its samples sum up to"));
  CHECK_THAT(failure_of("fast_units"), Catch::EndsWith("wrong units?") && Catch::Contains("above the device's peak"));
}

TEST_CASE("what a runner claims beyond its answer is not believed either") {
  CHECK(failure_of("negative") == "an error of -0.01 cannot be");
  CHECK(failure_of("lax") == "a tolerance of 1e+10 is none: at most 0.1");
  CHECK(failure_of("other_kernel") == "another kernel answered: \"another\"");
}

TEST_CASE("only an answer that may be that of another request costs a restart") {
  for (const auto& [behaviour, restarts] :
       {std::pair("few", 1), {"other_kernel", 1}, {"slow_units", 1}, {"wrong", 0}, {"lax", 0}}) {
    INFO(behaviour);
    RunnerClient client(fake(behaviour), {20, 20, 3});
    CHECK_FALSE(client.run(product(7)).result);
    CHECK(client.run(product(8)).result);
    CHECK(client.restarted() == restarts);
  }
}

TEST_CASE("a message of a runner is kept as one short line") {
  const std::string failure = failure_of("long_message");
  CHECK(failure.substr(0, 20) == "failed:  [31mmmmmmmm");
  CHECK(failure.size() == 300);
}

TEST_CASE("an answer that nobody asked for does not stand for the next one") {
  RunnerClient client(fake("twice"), {20, 20, 3});
  CHECK(client.run(product(7)).result);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (const std::int64_t m : {8, 9, 10}) {
    const RunOutcome outcome = client.run(product(m));
    INFO(outcome.failure);
    REQUIRE(outcome.result);
    CHECK(outcome.result->wall_ns.at(0) == 1000 + 20 * m);
  }
}

TEST_CASE("a runner that does not come up again fails at its shapes, and is given up") {
  const testing::TemporaryFolder folder;
  RunnerClient client(fake("never_again", folder.file("starts")), {20, 20, 2});
  CHECK(client.run(product(7)).failure == "the runner ended (exit status 3)");
  CHECK_FALSE(client.given_up());
  CHECK(client.run(product(8)).failure ==
        "it did not come up again: runner \"python3\": the runner ended (exit status 4)");
  client.run(product(8));
  CHECK(client.given_up());
}

TEST_CASE("a program that does not read what it is sent is waited for no longer than stated") {
  ChildProcess sleeper({"sleep", "60"});
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(sleeper.send(std::string(10'000'000, 'x'), 0.2));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

TEST_CASE("a runner that always fails is given up") {
  RunnerClient client(fake("always_dies"), {20, 20, 2});
  for (int i = 0; i < 3; ++i) CHECK(client.run(product(9)).failure == "the runner ended (exit status 3)");
  CHECK(client.run(product(9)).failure == "the runner failed 3 times in a row and was given up");
  CHECK(client.restarted() == 2);
}

TEST_CASE("a runner without a sound description is an error with the reason") {
  const auto fault = [](std::vector<std::string> command) -> std::string {
    try {
      RunnerClient(std::move(command), {0.5, 0.5, 1}).describe();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(fault({"no-such-program-4711"}) == R"(runner "no-such-program-4711": the runner ended (exit status 127))");
  CHECK(fault({"true"}) == R"(runner "true": the runner ended (exit status 0))");
  CHECK(fault({"sleep", "30"}) == R"(runner "sleep": the runner gave no answer within 0.5 s)");
  CHECK_THAT(fault({"cat"}), Catch::StartsWith("runner \"cat\": its description is no answer of the protocol: "));
}

TEST_CASE("a device that is another one after a restart is an error") {
  const testing::TemporaryFolder folder;
  RunnerClient client(fake("other_device", folder.file("starts")));
  client.run(product(7));
  CHECK_THROWS_WITH(client.run(product(8)),
                    R"(the device "fake device 0" is gone: after a restart the runner has "fake device 1")");
}

TEST_CASE("requests and answers survive the way through their lines") {
  RunRequest request = product(5);
  request.cold = true;
  request.kernel = "portable";
  const auto read = read_request(to_line(request));
  REQUIRE(std::holds_alternative<RunRequest>(read));
  CHECK(std::get<RunRequest>(read).problem == request.problem);
  CHECK(std::get<RunRequest>(read).cold);
  CHECK(std::get<RunRequest>(read).kernel == "portable");

  const auto fault = [](const std::string& line) {
    const auto read_line = read_request(line);
    return std::holds_alternative<RunnerError>(read_line) ? std::get<RunnerError>(read_line).message : "none";
  };
  CHECK(fault("[]") == "the line is no JSON object");
  CHECK(fault(R"({"do": "dance"})") == "unknown request dance; describe or run");
  CHECK(fault(R"({"do": "run", "operation": "fft", "dtype": "bf16", "shape": {}})") == "unknown operation fft");
  CHECK_THAT(fault(R"({"do": "run", "operation": "gemm", "dtype": "bf16", "shape": {"m": 1}})"),
             Catch::Contains("needs"));
  CHECK(
      fault(
          R"({"do": "run", "operation": "gemm", "dtype": "bf16", "shape": {"m": 1, "n": 1, "k": 1}, "repetitions": 0})") ==
      "repetitions must be from 1 to 100000");

  RunResult result{"k", "d", {1.5, 2}, {1, 1}, std::numeric_limits<double>::infinity(), 0.5};
  const auto back = read_result(to_line(result));
  REQUIRE(back);
  CHECK(std::get<RunResult>(*back).wall_ns == result.wall_ns);
  CHECK(std::isinf(*std::get<RunResult>(*back).error));
  CHECK_FALSE(read_result("{}"));
  CHECK_FALSE(read_result(R"({"ok": true, "kernel": 3, "wall_ns": []})"));
}
