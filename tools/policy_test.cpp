// SPDX-License-Identifier: Apache-2.0
#include "tools/policy_test.h"

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "scenarios/error.h"
#include "scenarios/policy_test.h"
#include "scenarios/units.h"
#include "tools/commands.h"
#include "tools/isolated.h"

/// `poolcast policy test POLICY CASES.yaml`: unit tests of a routing policy.
namespace poolcast {
namespace {

constexpr int kNo = 1;

struct Arguments {
  std::string policy, cases;
  bool isolate = false;
  bool inside = false;  ///< this is the process that --isolate starts
  std::int64_t cpu_seconds = IsolationLimits().cpu_seconds;
  std::string memory = "1 GiB";
};

void test(const Arguments& a, int& status) {
  const PolicyUnderTest policy = load_policy_under_test(a.policy);
  std::vector<PolicyCaseResult> results;
  for (const PolicyCase& c : load_policy_cases(load_yaml_file(a.cases), policy)) {
    results.push_back(run_policy_case(policy, c));
  }
  print(policy_test_text(results));
  if (!all_passed(results)) status = kNo;
}

/// A policy that eats the memory of its process is stopped by it, and that is its fault.
void test_inside(const Arguments& a, int& status) {
  try {
    test(a, status);
  } catch (const std::bad_alloc&) {
    print(fmt::format("FAILED  {}: it used more than {} of memory\n", a.policy, a.memory));
    status = kNo;
  }
}

void test_isolated(const Arguments& a, int& status) {
  const YamlNode memory = parse_yaml("--memory", a.memory, true);
  constexpr double kLeast = 64 << 20;  // below that the program itself does not start
  if (read_bytes(memory).value < kLeast) memory.fail("must be at least 64 MiB");
  const IsolationLimits limits{a.cpu_seconds, static_cast<std::int64_t>(read_bytes(memory).value)};
  const IsolatedEnd end =
      run_isolated({"poolcast", "policy", "test", "--inside", "--memory", a.memory, "--", a.policy, a.cases}, limits);
  status = end.status;
  if (end.killed.empty()) return;
  print(fmt::format("FAILED  {}: killed: {}\n", a.policy, end.killed));
  status = kNo;
}

}  // namespace

void add_policy_test(CLI::App& policy, int& status) {
  CLI::App* command = policy.add_subcommand("test", "Unit tests: a state, a request, the choice or scores expected");
  const auto a = std::make_shared<Arguments>();
  command->add_option("POLICY", a->policy, "an EndpointPickerConfig (YAML), or the name of a policy")->required();
  command->add_option("CASES", a->cases, "the cases (YAML; scenarios/policy_cases.md)")->required();
  command->add_flag("--isolate", a->isolate, "in a process of its own with limits, for a policy that you do not trust");
  command->add_option("--cpu-seconds", a->cpu_seconds, "with --isolate: CPU time that it may use")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--memory", a->memory, "with --isolate: address space that it may use")
      ->type_name("BYTES")
      ->capture_default_str();
  command->add_flag("--inside", a->inside)->group("");
  command->footer(
      "Example:\n"
      "  poolcast policy test scenarios/examples/scripted_routing.epp.yaml "
      "scenarios/examples/scripted_routing.cases.yaml");
  command->callback([a, &status] {
    a->isolate ? test_isolated(*a, status) : a->inside ? test_inside(*a, status) : test(*a, status);
  });
}

}  // namespace poolcast
