// SPDX-License-Identifier: Apache-2.0
// Bad input to the commands of a calibration.
#include <catch2/catch.hpp>

#include "tests/support/program.h"

using poolcast::testing::Ran;
using poolcast::testing::run_program;
using poolcast::testing::TemporaryFolder;
using poolcast::testing::write_file;

namespace {

/// The message of a command that must end with 2.
std::string fault(const std::vector<std::string>& arguments) {
  const Ran ran = run_program(arguments);
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  return ran.err;
}

}  // namespace

TEST_CASE("an unknown model, layout, precision or budget is an error") {
  const TemporaryFolder folder;
  const std::string out = folder.file("c.h5");
  const std::vector<std::string> sound = {"calibrate", "-o", out, "--model"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = sound;
    all.insert(all.end(), more.begin(), more.end());
    return fault(all);
  };
  CHECK(with({"smollm2-135"}) == "--model: the catalog has no model \"smollm2-135\"; did you mean \"smollm2-135m\"?\n");
  CHECK(with({"smollm2-135m", "--layout", "2"}) == "--layout: expected tp=N, got \"2\"\n");
  CHECK(with({"smollm2-135m", "--layout", "tp=0"}) == "--layout: expected tp=N, got \"tp=0\"\n");
  CHECK(with({"smollm2-135m", "--weights", "bf15"}) ==
        "--weights: unknown precision \"bf15\"; one of bf16, fp8, int8, fp4\n");
  CHECK_THAT(with({"smollm2-135m", "--budget", "5"}), Catch::StartsWith("--budget: expected a duration with its unit"));
  CHECK(with({"smollm2-135m", "--weights", "fp8"}) ==
        "calibrate: no kernel of fp8 weights can be measured; bf16 or int8\n");
  CHECK(folder.names().empty());
}

TEST_CASE("a runner that cannot be used is an error") {
  const TemporaryFolder folder;
  CHECK(fault({"calibrate", "--model", "smollm2-135m", "-o", folder.file("c.h5"), "--runner",
               "no-such-runner-4711 2>/dev/null"}) ==
        "runner \"no-such-runner-4711 2>/dev/null\": the runner ended (exit status 127)\n");
  CHECK(folder.names().empty());
  CHECK(fault({"devices", "--runner", "true"}) == "runner \"true\": the runner ended (exit status 0)\n");
}

TEST_CASE("a runner is any shell line") {
  const Ran ran =
      run_program({"devices", "--runner", "cd tests/units/calibration && KEY=1 python3 fake_runner.py sound"});
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Catch::StartsWith("runner: fake device sound\n"));
}

TEST_CASE("kernels of an implementation that is not there are an error") {
  CHECK(fault({"kernels", "--gemm", "8", "--only", "frmula", "--runner",
               "python3 tests/units/calibration/fake_runner.py sound"}) ==
        "--only: fake device sound has no kernel called \"frmula\"; did you mean \"formula\"?\n");
}

TEST_CASE("a file that is no calibration is an error of fit and validate") {
  const TemporaryFolder folder;
  const std::string path = folder.file("c.h5");
  CHECK(fault({"fit", path}) == path + ": cannot open: No such file or directory\n");
  write_file(path, "no");
  CHECK(fault({"validate", path}) == path + ": is no HDF5 file\n");
  CHECK(fault({"validate", folder.path().string()}) == folder.path().string() + ": is a folder, not a file\n");
}

TEST_CASE("kernels without a shape, or with a wrong one, is an error") {
  CHECK_THAT(fault({"kernels"}), Catch::StartsWith("kernels: no shape is given"));
  CHECK_THAT(fault({"kernels", "--problem", "gemm bf16 m=1"}), Catch::StartsWith("kernels: \"gemm bf16 m=1\": "));
  CHECK_THAT(fault({"kernels", "--gemm", "0"}), Catch::Contains("m must be at least 1"));
}

TEST_CASE("an unknown format of published measurements is an error") {
  CHECK(fault({"import", "opbd", "x", "--model", "llama-3.1-8b", "-o", "y.h5"}) ==
        "import: unknown format \"opbd\"; did you mean \"opdb\"?\n");
}

TEST_CASE("a wrong line in a step log is shown") {
  const TemporaryFolder folder;
  const std::string steps = folder.file("s.jsonl"), csv = folder.file("p.csv"), out = folder.file("c.h5");
  std::string rows = "model,hardware,prompt_size,batch_size,token_size,prompt_time,token_time,tensor_parallel\n";
  for (int n = 1; n < 8; ++n) rows += "llama2-70b,a100,512," + std::to_string(n) + ",128,200,50,8\n";
  write_file(csv, rows);
  const Ran import = run_program({"import", "splitwise", csv, "--model", "llama-2-70b", "--layout", "tp=8", "-o", out});
  INFO(import.err);
  REQUIRE(import.status == 0);
  const std::string sound = R"({"sampled": 1, "decode_requests": 1, "decode_context": 5, "seconds": 0.1})";
  write_file(steps, sound + "\n{\"sampled\": 1}\n");
  CHECK(fault({"fit", out, "--steps", steps}) ==
        steps + ":2:1: the key decode_requests is missing\n{\"sampled\": 1}\n^\n");
  write_file(steps, R"({"sampled": 1, "decode_requests": 1, "decode_context": 5, "seconds": -0.1})");
  CHECK_THAT(fault({"validate", out, "--steps", steps}),
             Catch::StartsWith(steps + ":1:59: seconds: must be a time from 1e-9 to 1e6, got \"-0.1\"\n"));
  write_file(steps, "\n");
  CHECK(fault({"fit", out, "--steps", steps}) == steps + ": has no steps\n");
  write_file(steps, sound);
  CHECK(run_program({"validate", out, "--steps", steps}).status == 0);
}
