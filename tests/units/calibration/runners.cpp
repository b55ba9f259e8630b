// SPDX-License-Identifier: Apache-2.0
// The runners in other languages, and poolcast's own, through the client that a calibration uses.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "calibration/calibrate.h"
#include "calibration/file.h"
#include "calibration/runner_client.h"
#include "kernels/opencl/opencl.h"
#include "kernels/problem.h"
#include "tests/support/program.h"
#include "tests/units/calibration/small.h"

using namespace poolcast;
using namespace poolcast::calibration;

namespace {

const std::string kFolder = POOLCAST_SOURCE_DIR "/calibration/runners";

bool works(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

std::string python_with_numpy() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (works(std::string(python) + " -c 'import numpy'")) return python;
  }
  return "";
}

const std::string kOnnx = kFolder + "/onnxruntime";
bool has_onnxruntime() { return works("cd " + kOnnx + " && node -e \"require('onnxruntime-node')\""); }

RunOutcome ask(RunnerClient& runner, const std::string& text, bool cold = false) {
  RunRequest request;
  request.problem = *kernels::parse_problem(text).problem;
  request.repetitions = 3;
  request.cold = cold;
  return runner.run(request);
}

void check_measures(RunnerClient& runner, const std::string& text, const std::string& kernel) {
  INFO(text);
  for (const bool cold : {false, true}) {
    const RunOutcome outcome = ask(runner, text, cold);
    CHECK(outcome.failure == "");
    REQUIRE(outcome.result);
    CHECK(outcome.result->kernel == kernel);
    CHECK(outcome.result->digest.size() == 64);
    CHECK(outcome.result->wall_ns.size() == 3);
    REQUIRE(outcome.result->error);
    const bool exact = text.rfind("kv_store", 0) == 0 || text.rfind("residual_add", 0) == 0;
    CHECK((*outcome.result->error > 0 || exact));
  }
}

void check_refuses(RunnerClient& runner) {
  CHECK_THAT(ask(runner, "all_reduce fp32 ranks=2 elements=8").failure, Catch::StartsWith("unsupported: "));
  CHECK(ask(runner, "gemm fp32 m=4 n=4 k=4").result);  // and goes on
  CHECK(runner.restarted() == 0);
}

/// A calibration of a few tokens has every part, so there is a curve.
void check_makes_a_curve(const std::vector<std::string>& command, const std::string& left_out) {
  const testing::TemporaryFolder folder;
  CalibrateOptions options;
  options.identity.shape = testing::small_shape();
  options.limits = {2, 2, 64, "fp32", 1e9};
  options.stop.least = options.stop.most = 2;
  options.refine_above = 1e9;  // no refinement
  options.output = folder.file("c.h5");
  RunnerClient runner(command);
  const CalibrateReport report = calibrate(options, runner, [](const CalibrateProgress&) {});
  CHECK(report.failed == 0);
  const Calibration made = load(options.output);
  CHECK(made.head.why_no_curve == "");
  CHECK(made.head.curve.has_value());
  CHECK(made.provenance.at("left_out") == left_out);
}

}  // namespace

TEST_CASE("the numpy runner measures and checks its operations") {
  const std::string python = python_with_numpy();
  if (python.empty()) {
    WARN("skipped: no python3 with numpy (Debian package python3-numpy)");
    return;
  }
  RunnerClient runner({python, kFolder + "/numpy_runner.py"});
  CHECK_THAT(runner.describe().runtime, Catch::StartsWith("numpy "));
  CHECK(runner.describe().peak_flops.at("fp32") > 1e8);
  for (const char* text :
       {"gemm fp32 m=33 n=65 k=129", "softmax fp32 rows=5 columns=77", "rms_norm fp32 rows=5 columns=77",
        "silu_gate fp32 rows=5 columns=77", "residual_add fp32 rows=5 columns=77",
        "rotary fp32 tokens=5 heads=3 head_dim=16", "kv_store fp32 tokens=37 kv_heads=3 head_dim=16 block=5",
        "kv_store fp32 tokens=1 kv_heads=1 head_dim=1",
        "decode_attention fp32 requests=2 context=50 heads=4 kv_heads=2 head_dim=16",
        "prefill_attention fp32 query=7 context=20 heads=4 kv_heads=2 head_dim=16"})
    check_measures(runner, text, "numpy");
  check_refuses(runner);
}

TEST_CASE("the ONNX Runtime runner measures and checks its operations") {
  if (!has_onnxruntime()) {
    WARN("skipped: no node with onnxruntime-node (npm install --ignore-scripts in calibration/runners/onnxruntime)");
    return;
  }
  RunnerClient runner({"node", kOnnx + "/runner.js"});
  CHECK_THAT(runner.describe().runtime, Catch::StartsWith("onnxruntime-node "));
  for (const char* text : {"gemm fp32 m=33 n=65 k=129", "softmax fp32 rows=5 columns=77",
                           "rms_norm fp32 rows=5 columns=77", "silu_gate fp32 rows=5 columns=77",
                           "residual_add fp32 rows=5 columns=77", "rotary fp32 tokens=5 heads=3 head_dim=16",
                           "decode_attention fp32 requests=2 context=50 heads=4 kv_heads=2 head_dim=16",
                           "decode_attention fp32 requests=1 context=2 heads=3 kv_heads=3 head_dim=8",
                           "prefill_attention fp32 query=7 context=20 heads=4 kv_heads=2 head_dim=16",
                           "prefill_attention fp32 query=1 context=3 heads=2 kv_heads=1 head_dim=8"})
    check_measures(runner, text, "onnxruntime");
  check_refuses(runner);
}

TEST_CASE("poolcast's own runner measures and checks its kernels") {
  RunnerClient runner({POOLCAST_PROGRAM, "runner"});
  const Description& d = runner.describe();
  CHECK(d.peak_flops.at("fp32") > 1e9);
  CHECK(d.bandwidth > 1e8);
  RunRequest request;
  request.problem = *kernels::parse_problem("gemm fp32 m=32 n=64 k=64").problem;
  int measured = 0;
  for (const OfferedKernel& k : d.kernels) {
    if (k.operation != "gemm" || k.kernel == "reference") continue;
    request.kernel = k.kernel;
    const RunOutcome outcome = runner.run(request);
    INFO(k.kernel << ": " << outcome.failure);
    CHECK((outcome.result || outcome.failure.rfind("unsupported: ", 0) == 0));
    measured += outcome.result.has_value();
  }
  CHECK(measured >= 2);
  request.kernel = "no such kernel";
  CHECK(runner.run(request).failure == "unsupported: no kernel is called no such kernel");
}

TEST_CASE("a shape that does not fit into memory fails alone") {
  RunnerClient runner({POOLCAST_PROGRAM, "runner"});
  const RunOutcome outcome = ask(runner, "gemm fp32 m=1 n=1000000 k=262144");  // 1 TB of weights
  CHECK_FALSE(outcome.result);
  CHECK(ask(runner, "gemm fp32 m=8 n=8 k=8").result);
}

TEST_CASE("kernels of OpenCL, numpy and ONNX Runtime make whole curves") {
  if (!kernels::opencl_device_name().empty())
    check_makes_a_curve({POOLCAST_PROGRAM, "runner", "--device", "opencl"}, "");
  if (const std::string python = python_with_numpy(); !python.empty())
    check_makes_a_curve({python, kFolder + "/numpy_runner.py"}, "");
  if (has_onnxruntime()) check_makes_a_curve({"node", kOnnx + "/runner.js"}, "stores of new K and V");
}

TEST_CASE("runners of this machine's CPU state that they share it, and what it lacks") {
  const auto described = [](std::vector<std::string> arguments) {
    std::vector<std::string> command = testing::poolcast_command({"runner"});
    command.insert(command.end(), arguments.begin(), arguments.end());
    RunnerClient runner(command);
    return runner.describe(false);
  };
  const Description one = described({"--threads", "1"}), two = described({"--threads", "2"});
  CHECK(one.hardware == "cpu");
  CHECK(two.hardware == "cpu");
  if (kernels::opencl_on_cpu()) CHECK(described({"--device", "opencl"}).hardware == "cpu");
  const bool tiles = RunnerClient(testing::poolcast_command({"runner"}))
                         .run({*kernels::parse_problem("gemm bf16 m=64 n=64 k=64").problem, "amx", 1, false, true})
                         .result.has_value();
  const bool told = std::any_of(one.absent.begin(), one.absent.end(), [](const auto& a) { return a.first == "amx"; });
  CHECK(told == !tiles);
}
