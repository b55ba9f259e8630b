// SPDX-License-Identifier: Apache-2.0
// A calibration as the curve of a scenario.
#include <catch2/catch.hpp>

#include "calibration/file.h"
#include "calibration/fit.h"
#include "scenarios/build.h"
#include "scenarios/catalog.h"
#include "scenarios/digest.h"
#include "scenarios/error.h"
#include "scenarios/load.h"
#include "scenarios/resolve.h"
#include "tests/support/program.h"
#include "tests/units/calibration/small.h"

using namespace poolcast;
using namespace poolcast::calibration;
using namespace poolcast::testing;

namespace {

std::string text(const std::string& curves, const std::string& layers = "2", const std::string& tp = "1") {
  return R"(version: 1
workload: {synth: {requests: 50, arrivals: {process: poisson, rate: 20/s}, prompt_tokens: 100, output_tokens: 20}}
models: {name: m, shape: {layers: )" +
         layers +
         R"(, hidden: 64, heads: 4, kv_heads: 2, head_dim: 16, intermediate: 128, vocab: 1000, context_limit: 4096}}
pools: {name: p, accelerator: h100-sxm, layout: {tp: )" +
         tp +
         R"(}, engine: {kind: vllm, version: mainline-2026-08-17, args: {max_num_batched_tokens: 512, max_num_seqs: 32, max_model_len: 1024}}, price: none,
        curves: )" +
         curves + "}\n";
}

Catalog catalog() { return Catalog::load(POOLCAST_SOURCE_DIR "/scenarios/catalog"); }

std::string first_line(const std::string& scenario) {
  try {
    load_scenario_text("s.yaml", scenario, catalog());
  } catch (const ConfigError& error) {
    const std::string what = error.what();
    return what.substr(0, what.find('\n'));
  }
  return "none";
}

/// A fitted calibration in a folder of its own.
struct Fixture {
  TemporaryFolder folder;
  std::string path = folder.file("c.h5");

  Fixture() {
    Calibration c = small_calibration();
    fit(c);
    save(c, path);
  }
};

}  // namespace

TEST_CASE("a scenario takes its step times from a calibration and says which") {
  const Fixture f;
  const Scenario scenario = load_scenario_text("s.yaml", text(f.path), catalog());
  const BuiltScenario built = build(scenario);
  CHECK(built.spec.pools[0].curve->step({8, 8, 8, 800, {}}).value == Approx(7 * line_s(8) + 2 * decode_s(8, 100)));
  const std::string& line = built.facts.pools[0].curve;
  CHECK_THAT(line, Catch::StartsWith("measured: small on made-up device tp 1, bf16 weights, bf16 KV, auto, cpu clock"));
  CHECK_THAT(line, Catch::Contains("sha256:" + sha256_of_file(f.path).substr(0, 12)));
  CHECK_THAT(line, Catch::Contains("held-out error, median / p95 in the worst regime: prefill attention"));
}

TEST_CASE("check prints a calibration with its digest, and that loads again") {
  const Fixture f;
  const Scenario scenario = load_scenario_text("s.yaml", text(f.path), catalog());
  const std::string resolved = resolved_yaml(scenario);
  CHECK_THAT(resolved, Catch::Contains("digest: sha256:" + sha256_of_file(f.path)));
  const Scenario again = load_scenario_text("r.yaml", resolved, catalog());
  CHECK(scenario_digest(again) == scenario_digest(scenario));
  Calibration other = small_calibration();
  other.points[0].cpu_s = {1e-3};
  other.points[0].wall_s = {1e-3};
  fit(other);
  save(other, f.path);
  CHECK_THAT(first_line(resolved), Catch::Contains("digest: the file is another one now: its digest is sha256:"));
  CHECK(scenario_digest(load_scenario_text("s.yaml", text(f.path), catalog())) != scenario_digest(scenario));
}

TEST_CASE("a calibration of another model or layout is refused with what differs") {
  const Fixture f;
  const std::string start = "pools[0].curves: the calibration \"" + f.path + "\" was measured for small: ";
  CHECK_THAT(first_line(text(f.path, "3")), Catch::EndsWith(start + "layers 2 instead of 3"));
  CHECK_THAT(first_line(text(f.path, "2", "2")), Catch::EndsWith(start + "tp 1 instead of 2"));
}

TEST_CASE("a calibration without a curve is refused with the reason") {
  const TemporaryFolder folder;
  Calibration c = small_calibration();
  c.points.resize(2);
  fit(c);
  save(c, folder.file("c.h5"));
  CHECK_THAT(first_line(text(folder.file("c.h5"))), Catch::Contains("holds no curve yet: nothing is measured of"));
}

TEST_CASE("run states digest, errors and the share of steps in range") {
  const Fixture f;
  write_file(f.folder.file("s.yaml"), text("c.h5"));
  const Ran ran = run_program({"run", f.folder.file("s.yaml")});
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Catch::Contains("100 % of the steps in the") || Catch::Contains("100 % of the\n"));
  const Ran json = run_program({"run", f.folder.file("s.yaml"), "--format", "json"});
  CHECK_THAT(json.out, Catch::Contains("\"digest\": \"sha256:" + sha256_of_file(f.path) + "\""));
  CHECK_THAT(json.out, Catch::Contains("\"term\": \"prefill attention\""));
  const Ran far = run_program({"run", f.folder.file("s.yaml"), "--set", "workload.synth.prompt_tokens=1000"});
  CHECK_THAT(far.out, Catch::Contains("Results are extrapolated"));
}

TEST_CASE("the example with a CPU pool tells how its calibration is made, and runs with it or without") {
  const std::string example = "scenarios/examples/cpu_or_gpu.yaml";
  const Ran without = run_program({"run", example});
  CHECK(without.status == 2);
  CHECK_THAT(without.err, Catch::Contains("no such file") &&
                              Catch::Contains("`poolcast calibrate --model MODEL -o cpu.h5` measures one"));
  CHECK(run_program({"check", example, "--set", "pools[1].curves=roofline"}).status == 0);

  Calibration c = small_calibration();
  c.head.identity.shape = catalog().model("qwen2.5-0.5b")->shape;
  fit(c);
  const TemporaryFolder folder;
  save(c, folder.file("cpu.h5"));
  write_file(folder.file("s.yaml"), read_file(example));
  const Ran with = run_program({"run", folder.file("s.yaml"), "--set", "workload.synth.requests=100"});
  INFO(with.err);
  CHECK(with.status == 0);
  CHECK_THAT(with.out, Catch::Contains("cpu: measured: qwen2.5-0.5b on made-up device"));
}
