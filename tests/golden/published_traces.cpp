// SPDX-License-Identifier: Apache-2.0
// The tables of scenarios/examples/README.md are what the program says.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/data.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast::testing;
using nlohmann::json;

namespace {

const std::string kExamples = "scenarios/examples/";

using Options = std::vector<std::string>;

json run(const std::string& example, const Options& options) {
  std::vector<std::string> command = {"run", kExamples + example, "--format", "json"};
  for (const std::string& option : options) {
    command.push_back("--set");
    command.push_back(option);
  }
  const Ran ran = run_program(command);
  REQUIRE(ran.err == "");
  return json::parse(ran.out);
}

/// The line of the table for one pool.
std::string row_of(const std::string& name, const json& pool) {
  const json& use = pool.at("use");
  const json& latency = pool.at("latency");
  const json& rate = use.at("prefix_hit_rate");
  const auto ms = [&](const char* metric, const char* what) {
    return fmt::format("{:.1f} ms", 1e3 * latency.at(metric).at(what).get<double>());
  };
  const std::string hits = rate.is_null() ? "-" : fmt::format("{:.1f} %", 100 * rate.get<double>());
  return fmt::format("| `{}` | {} | {} | {} | {} | {:.1f} % |\n", name, hits, ms("ttft_s", "mean"), ms("ttft_s", "p99"),
                     ms("tpot_s", "mean"), 100 * use.at("busy_share").get<double>());
}

bool told(const std::string& row) {
  static const std::string text = read_file(std::string(POOLCAST_SOURCE_DIR) + "/" + kExamples + "README.md");
  return text.find(row) != std::string::npos;
}

}  // namespace

TEST_CASE("The trace of Mooncake without a prefix cache and with caches of four sizes is as examples/README.md tells",
          "[data]") {
  POOLCAST_NEED_DATA(trace, "traces/mooncake_synthetic_trace.jsonl");
  double last = 0;
  for (const char* argument :
       {"enable_prefix_caching=false", "num_gpu_blocks_override=30000", "num_gpu_blocks_override=100000",
        "num_gpu_blocks_override=400000", "num_gpu_blocks_override=1000000"}) {
    const json summary =
        run("mooncake.yaml", {"workload.trace.file=" + *trace, std::string("pools.pool.engine.args.") + argument});
    const std::string row = row_of(argument, summary.at("pools").at(0));
    CAPTURE(row);
    CHECK(told(row));
    const double ideal = summary.at("validity").at("ideal_prefix_hit_rate");
    CHECK(ideal == Approx(0.6459).margin(1e-4));
    const json& rate = summary.at("pools").at(0).at("use").at("prefix_hit_rate");
    if (rate.is_null()) continue;
    CHECK(rate.get<double>() > last);
    CHECK(rate.get<double>() < ideal);
    last = rate;
  }
}

TEST_CASE("One trace on four engines side by side is as examples/README.md tells", "[data]") {
  POOLCAST_NEED_DATA(trace, "traces/mooncake_synthetic_trace.jsonl");
  Options options;
  for (int i = 0; i < 4; ++i) options.push_back(fmt::format("workload[{}].trace.file={}", i, *trace));
  const json summary = run("engines_on_one_trace.yaml", options);
  for (const json& pool : summary.at("pools")) {
    const std::string row = row_of(pool.at("name"), pool);
    CAPTURE(row);
    CHECK(told(row));
  }
}

TEST_CASE("Ten sessions of a coding agent are as examples/README.md tells", "[data]") {
  POOLCAST_NEED_DATA(folder, "traces/agentic");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  Options options;
  for (std::size_t i = 0; i < 10; ++i) options.push_back(fmt::format("workload[{}].trace.file={}", i, files.at(i)));
  for (const char* policy : {"session", "round-robin"}) {
    options.push_back(std::string("routing.pool.policy=") + policy);
    const json summary = run("coding_agents.yaml", options);
    options.pop_back();
    const std::string row = row_of(policy, summary.at("pools").at(0));
    CAPTURE(row);
    CHECK(told(row));
  }
}
