// SPDX-License-Identifier: Apache-2.0
#include "calibration/calibrate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "calibration/file.h"
#include "models/error.h"
#include "models/kernel_tables.h"
#include "scenarios/error.h"
#include "tests/support/program.h"
#include "tests/units/calibration/small.h"

using namespace poolcast;
using namespace poolcast::calibration;
using namespace poolcast::testing;

namespace {

/// Locks of devices lie in the folder for temporary files: this program has one of its own, so that two runs of the
/// tests at once do not meet.
struct OwnLocks {
  TemporaryFolder folder;
  OwnLocks() { ::setenv("TMPDIR", folder.path().c_str(), 1); }
};
const OwnLocks own_locks;

std::vector<std::string> fake(const std::string& behaviour) {
  return {"python3", POOLCAST_SOURCE_DIR "/tests/units/calibration/fake_runner.py", behaviour};
}

CalibrateOptions small_options(const std::string& output) {
  CalibrateOptions o;
  o.identity.shape = small_shape();
  o.limits = {64, 8, 512, "", 1e9};
  o.stop.least = 2;
  o.stop.most = 4;
  o.budget_s = 60;
  o.output = output;
  return o;
}

CalibrateReport run(const CalibrateOptions& options, const std::string& behaviour = "sound") {
  RunnerClient runner(fake(behaviour), {20, 20, 3});
  return calibrate(options, runner, [](const CalibrateProgress&) {});
}

std::string fault(const CalibrateOptions& options, const std::string& behaviour = "sound") {
  try {
    run(options, behaviour);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a plan holds every matrix of the shard once, and shapes that are held out") {
  CurveIdentity id;
  id.shape = small_shape();
  const Plan plan = make_plan(id, {64, 8, 512, "", 1e9});
  const auto part = [&](const std::string& name) {
    const auto found =
        std::find_if(plan.parts.begin(), plan.parts.end(), [&](const Part& p) { return p.name == name; });
    REQUIRE(found != plan.parts.end());
    return *found;
  };
  CHECK(part("gemm bf16 n=128 k=64").times == 2);  // queries, keys, values: (4 + 2 * 2) heads of 16
  CHECK(part("gemm bf16 n=64 k=64").times == 2);   // output
  CHECK(part("gemm bf16 n=256 k=64").times == 2);  // gate and up
  CHECK(part("gemm bf16 n=64 k=128").times == 2);  // down
  CHECK(part("gemm bf16 n=1000 k=64").term == Term::kHead);
  CHECK(part("rms_norm bf16 columns=64").times == 5);
  CHECK(part("silu_gate bf16 columns=128").times == 2);
  CHECK(part("residual_add bf16 columns=64").times == 4);
  CHECK(part("kv_store bf16 kv_heads=2 head_dim=16").times == 2);
  CHECK(plan.left_out.empty());
  CHECK(plan.too_large == 0);
  CHECK(make_plan(id, {64, 8, 512, "", 1e5}).too_large ==
        plan.points.size() - make_plan(id, {64, 8, 512, "", 1e5}).points.size());
  CHECK(make_plan(id, {64, 8, 512, "", 1e5}).too_large > 0);
  const auto held = std::count_if(plan.points.begin(), plan.points.end(), [](const Point& p) { return p.held_out; });
  CHECK(held > 10);
  std::set<std::string> problems;
  for (const Point& p : plan.points) CHECK(problems.insert(p.problem).second);
}

TEST_CASE("what a runner does not offer between the products is no part of a step, and the plan says so") {
  CurveIdentity id;
  id.shape = small_shape();
  PlanLimits limits{64, 8, 512, "", 1e9};
  limits.offered = {"gemm", "rms_norm", "rotary", "silu_gate"};
  const Plan plan = make_plan(id, limits);
  CHECK(plan.left_out == std::vector<std::string>{"stores of new K and V", "residual additions", "sampling"});
  const auto has = [&](const std::string& operation) {
    return std::any_of(plan.parts.begin(), plan.parts.end(),
                       [&](const Part& p) { return p.name.rfind(operation + " ", 0) == 0; });
  };
  CHECK(has("silu_gate"));
  CHECK_FALSE(has("kv_store"));
  CHECK_FALSE(has("residual_add"));
  CHECK_FALSE(has("softmax"));
  CHECK(has("decode_attention"));  // needed, so it fails rather than being left out
}

TEST_CASE("few tokens are measured one by one, many at every half") {
  CurveIdentity id;
  id.shape = small_shape();
  const Plan plan = make_plan(id, {100, 8, 512, "", 1e9});
  std::set<std::int64_t> fitted, held;
  for (const Point& p : plan.points)
    if (plan.parts[p.part].name == "gemm bf16 n=64 k=64") (p.held_out ? held : fitted).insert(p.shape[0]);
  CHECK(fitted == std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64, 96, 100});
  CHECK(held == std::set<std::int64_t>{9, 11, 13, 15, 17, 21, 25, 29, 38, 54, 76, 97});
}

TEST_CASE("cold is what a step does not find in its caches") {
  CurveIdentity id;
  id.shape = small_shape();
  const Plan plan = make_plan(id, {64, 8, 512, "", 1e9});
  for (const Point& p : plan.points) {
    INFO(p.problem);
    const std::string operation = p.problem.substr(0, p.problem.find(' '));
    const bool attention = operation == "prefill_attention" || operation == "decode_attention";
    CHECK(p.cold == (attention || operation == "gemm" || operation == "kv_store"));
  }
}

TEST_CASE("a plan of two devices cuts the matrices and has an all-reduce") {
  CurveIdentity id;
  id.shape = small_shape();
  id.layout.tp = 2;
  const Plan plan = make_plan(id, {64, 8, 512, "", 1e9});
  const auto has = [&](const std::string& name) {
    return std::any_of(plan.parts.begin(), plan.parts.end(), [&](const Part& p) { return p.name == name; });
  };
  CHECK(has("gemm bf16 n=64 k=64"));  // (2 + 2) heads of 16
  CHECK(has("all_reduce bf16 ranks=2"));
  CHECK(has("gemm bf16 n=500 k=64"));
}

TEST_CASE("shapes outside the memory are left out of a plan") {
  CurveIdentity id;
  id.shape = small_shape();
  const Plan all = make_plan(id, {4096, 8, 512, "", 1e9}), some = make_plan(id, {4096, 8, 512, "", 1e6});
  CHECK(some.points.size() < all.points.size());
  for (const Point& p : some.points) CHECK(kernels::bytes(*kernels::parse_problem(p.problem).problem).value <= 1e6);
}

TEST_CASE("a device is calibrated, and its curve is what its operations take") {
  const TemporaryFolder folder;
  const CalibrateReport report = run(small_options(folder.file("c.h5")));
  CHECK(report.complete);
  CHECK(report.failed == 0);
  const Calibration c = load(folder.file("c.h5"));
  CHECK(c.head.identity.device == "fake device sound");
  CHECK(c.head.identity.clock == "cpu");
  CHECK(c.points.at(0).implementation == "formula");
  CHECK(c.points.at(0).kernel == "f0");
  CHECK(c.provenance.count("host") == 1);
  CHECK(c.provenance.at("left_out") == "activation functions");
  REQUIRE(c.head.curve);
  // Formulas of the fake runner: a product or norm 1000 + 20 n ns, decode 1500 + r (50 + context / 2) ns.
  // Four matrices, five norms, a rotation, a store and two additions a layer; the gate is not offered.
  const double linear = (1000 + 20 * 8) * (4 * 2 + 5 + 2 + 2 + 4), head = 2 * (1000 + 20 * 8);
  const double decode = 2 * (1500 + 8 * (50 + 0.5 * 128));
  const auto curve = make_kernel_table_curve(*c.head.curve);
  CHECK(curve->step({8, 8, 8, 8 * 128, {}}).value * 1e9 == Approx(linear + head + decode));
  for (const TermError& e : c.head.errors) CHECK(e.p95 < 0.1);
}

TEST_CASE("a budget of one second leaves a sound file, and the same call goes on from there") {
  const TemporaryFolder folder;
  CalibrateOptions options = small_options(folder.file("c.h5"));
  options.budget_s = 0.05;
  const CalibrateReport first = run(options, "slow");
  CHECK_FALSE(first.complete);
  CHECK(first.left > 0);
  const std::size_t kept = load(options.output).points.size();
  CHECK(kept == first.measured);
  options.budget_s = 60;
  const CalibrateReport second = run(options, "slow");
  CHECK(second.kept == kept);
  CHECK(second.complete);
  CHECK(second.kept_of_others == 0);
  CHECK(run(options, "slow").measured == 0);
}

TEST_CASE("a calibration that goes on says how much of it another build of the kernels measured") {
  const TemporaryFolder folder;
  const CalibrateOptions options = small_options(folder.file("c.h5"));
  run(options);
  Calibration c = load(options.output);
  c.points[0].kernel = c.points[2].kernel = "f1";
  save(c, options.output);
  CHECK(run(options).kept_of_others == 2);
}

TEST_CASE("gaps are refined where a point that is left out is missed most") {
  const TemporaryFolder folder;
  CalibrateOptions options = small_options(folder.file("c.h5"));
  options.refine_above = 1e-4;
  options.budget_s = 4;
  const CalibrateReport report = run(options);
  CHECK(report.refined > 0);
  // Only prefill attention is curved.
  const Calibration c = load(options.output);
  for (std::size_t i = c.points.size() - report.refined; i < c.points.size(); ++i)
    CHECK(c.parts[c.points[i].part].term == Term::kPrefill);
}

TEST_CASE("a calibration of something else is not continued") {
  const TemporaryFolder folder;
  CalibrateOptions options = small_options(folder.file("c.h5"));
  run(options);
  const std::string path = options.output;
  options.identity.shape.layers = 3;
  CHECK(fault(options) == path + ": is a calibration of something else: layers 2 instead of 3");
  options.identity.shape.layers = 2;
  options.kernel = "formula";
  CHECK(fault(options) == path + R"(: is a calibration of something else: implementation "auto" instead of "formula")");
  options.kernel = "auto";
  CHECK(fault(options, "unsupported") ==
        path +
            R"(: is a calibration of something else: device "fake device sound" instead of "fake device unsupported")");
  CHECK_THAT(fault(options, "newer"), Catch::EndsWith(R"(, runtime "1.0" instead of "2.0")"));
  write_file(path, "not HDF5");
  CHECK(fault(options) == path + ": is no HDF5 file");
}

TEST_CASE("two calibrations of one device at once: the second is refused") {
  const TemporaryFolder folder;
  const Lock lock = Lock::of_hardware("fake device sound", "fake device sound");
  CHECK_THAT(fault(small_options(folder.file("c.h5"))),
             Catch::StartsWith("fake device sound is being measured by another"));
  CHECK_FALSE(std::filesystem::exists(folder.file("c.h5")));
}

TEST_CASE("a runner that fails at every shape leaves a file without a curve that says why") {
  const TemporaryFolder folder;
  const CalibrateReport report = run(small_options(folder.file("c.h5")), "always_dies");
  CHECK(report.failed == report.measured);
  const Calibration c = load(folder.file("c.h5"));
  CHECK_FALSE(c.head.curve);
  CHECK_FALSE(c.head.why_no_curve.empty());
  CHECK_FALSE(c.points.at(0).failure.empty());
}

TEST_CASE("runners that share hardware, and calibrations of one file, are not run at once") {
  const TemporaryFolder folder;
  {
    const Lock lock = Lock::of_hardware("one core", "another runner of it");
    CHECK_THAT(fault(small_options(folder.file("c.h5")), "shares it"),
               Catch::StartsWith("fake device shares it is being measured by another process"));
  }
  const Lock lock = Lock::of_file(folder.file("c.h5"));
  CHECK(fault(small_options(folder.file("d.h5"))) == "none");
  CHECK_THAT(fault(small_options(folder.file("c.h5"))),
             Catch::StartsWith(folder.file("c.h5") + " is being written by another process"));
}

TEST_CASE("a runner that is given up leaves the rest for the next call, and what failed is tried again") {
  const TemporaryFolder folder;
  const CalibrateOptions options = small_options(folder.file("c.h5"));
  const CalibrateReport first = run(options, "always_dies");
  CHECK(first.given_up);
  CHECK_FALSE(first.complete);
  CHECK(first.measured == 4);
  CHECK(first.failures.at("the runner ended (exit status 3)") == 4);
  const std::string path = folder.file("d.h5"), starts = folder.file("starts");
  CalibrateOptions again = small_options(path);
  RunnerClient runner({"python3", POOLCAST_SOURCE_DIR "/tests/units/calibration/fake_runner.py", "fails_once", starts},
                      {20, 20, 3});
  const CalibrateReport second = calibrate(again, runner, [](const CalibrateProgress&) {});
  CHECK(second.failed == 1);
  const CalibrateReport third = run(again);
  CHECK(third.measured == 1);
  CHECK(third.failed == 0);
  CHECK(third.complete);
}

TEST_CASE("what cannot be calibrated is told before anything is measured") {
  const TemporaryFolder folder;
  CalibrateOptions options = small_options(folder.file("none/c.h5"));
  CHECK(fault(options) == folder.file("none/c.h5") + ": cannot write: No such file or directory");
  options.output = folder.path().string();
  CHECK(fault(options) == folder.path().string() + ": cannot write: Is a directory");
  options.output = folder.file("c.h5");
  options.kernel = "formla";
  CHECK(fault(options) ==
        R"(--implementation: fake device sound has no kernel called "formla"; did you mean "formula"?)");
  CHECK(folder.names().empty());
}

TEST_CASE("what no kernel can measure is refused by name") {
  const TemporaryFolder folder;
  CalibrateOptions options = small_options(folder.file("c.h5"));
  options.identity.weights = Precision::kFp8;
  CHECK(fault(options) == "no kernel of fp8 weights can be measured; bf16 or int8");
}

TEST_CASE("a calibration that is killed goes on where it was saved last") {
  const TemporaryFolder folder;
  const std::string out = folder.file("c.h5");
  const std::vector<std::string> command =
      poolcast_command({"calibrate", "--model", "smollm2-135m", "--max-tokens", "64", "--max-requests", "8",
                        "--max-context", "256", "--runner", "python3 tests/units/calibration/fake_runner.py killed",
                        "--budget", "60 s", "--save-every", "0.05", "-o", out});
  Process first(command);
  for (int i = 0; i < 600 && !std::filesystem::exists(out); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  REQUIRE(std::filesystem::exists(out));
  ::kill(first.id(), SIGKILL);
  CHECK(first.wait().status == 128 + SIGKILL);
  const std::size_t kept = load(out).points.size();
  CHECK(kept > 0);
  const Ran second = Process(command).wait();
  INFO(second.err);
  CHECK(second.status == 0);
  CHECK_THAT(second.out, Catch::Contains(std::to_string(kept) + " kept from before"));
  CHECK(load(out).head.curve);
}

TEST_CASE("what a runner started ends with a calibration that is killed") {
  const TemporaryFolder folder;
  const std::string number = folder.file("pid"), out = folder.file("c.h5");
  Process first(poolcast_command(
      {"calibrate", "--model", "smollm2-135m", "--max-tokens", "64", "--budget", "60 s", "--save-every", "0",
       "--runner", "sleep 600 & echo $! > " + number + "; python3 tests/units/calibration/fake_runner.py killed", "-o",
       out}));
  for (int i = 0; i < 600 && !std::filesystem::exists(out); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  REQUIRE(std::filesystem::exists(out));
  const int sleeper = std::stoi(read_file(number));
  REQUIRE(::kill(sleeper, 0) == 0);
  ::kill(first.id(), SIGKILL);
  first.wait();
  const auto state = [&] {
    std::ifstream stat("/proc/" + std::to_string(sleeper) + "/stat");
    std::string pid, name, letter = "gone";
    stat >> pid >> name >> letter;
    return letter;
  };
  for (int i = 0; i < 200 && state() != "gone" && state() != "Z"; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_THAT(state(), Catch::Equals("gone") || Catch::Equals("Z"));  // a zombie where nobody reaps orphans
}

TEST_CASE("a live run beside the curve of another device says so") {
  const TemporaryFolder folder;
  const std::string out = folder.file("c.h5");
  const Ran made = run_program({"calibrate", "--model", "smollm2-135m", "--max-tokens", "64", "--max-requests", "4",
                                "--max-context", "64", "--shape-seconds", "0.01", "--runner",
                                "python3 tests/units/calibration/fake_runner.py sound", "-o", out});
  INFO(made.err);
  REQUIRE(made.status == 0);
  const Ran ran = run_program({"validate", out, "--live", "scenarios/examples/live_cpu.yaml", "--set",
                               "workload.synth.requests=1", "--set", "workload.synth.output_tokens.max=3"});
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Catch::Contains("WARNING  the curve is of fake device sound, and this is "));
  CHECK_THAT(ran.out, Catch::Contains("TTFT p50"));
}

TEST_CASE("further rounds add samples to every shape") {
  const TemporaryFolder folder;
  CalibrateOptions options = small_options(folder.file("c.h5"));
  options.refine_above = 1e9;
  run(options);
  const Calibration before = load(options.output);
  options.rounds = 3;
  const CalibrateReport report = run(options);
  CHECK(report.measured == 0);
  CHECK(report.again == 2 * before.points.size());
  const Calibration after = load(options.output);
  REQUIRE(after.points.size() == before.points.size());
  for (std::size_t i = 0; i < after.points.size(); ++i)
    CHECK(after.points[i].wall_s.size() >= before.points[i].wall_s.size() + 2);
}
