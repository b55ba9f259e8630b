// SPDX-License-Identifier: Apache-2.0
// `policy test` as a program: its exit statuses, and policies that do harm, in a process of their own.
#include <sys/prctl.h>

#include <catch2/catch.hpp>

#include "sim/routing/lua_plugins.h"
#include "tests/support/program.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr const char* kCase =
    "- {name: one, endpoints: [{name: a}, {name: b}], repeat: 1000, expect: {one_of: [a, b]}}\n";

std::string scripted(const std::string& parameters) {
  return "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n- type: lua-scorer\n  parameters: {" +
         parameters + "}\n";
}

Ran tried(const std::string& policy, std::vector<std::string> options) {
  const TemporaryFolder folder;
  write_file(folder.file("epp.yaml"), policy);
  write_file(folder.file("cases.yaml"), kCase);
  std::vector<std::string> words = {"policy", "test"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {folder.file("epp.yaml"), folder.file("cases.yaml")});
  return run_program(words);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // needs address space without end
#else
constexpr bool kSanitized = false;
#endif

}  // namespace

TEST_CASE("policy test ends with 0, 1 or 2, in its own process too") {
  if (!routing::lua_built_in() || kSanitized) return;
  for (const auto& options : {std::vector<std::string>{}, std::vector<std::string>{"--isolate"}}) {
    CAPTURE(options);
    const Ran good = tried(scripted("script: 'function score() return 1 end'"), options);
    CHECK(good.status == 0);
    CHECK(good.out == "ok      one\n1 passed, 0 failed\n");
    const Ran failing = tried(scripted("script: 'function score() return nil end'"), options);
    CHECK(failing.status == 1);
    CHECK_THAT(failing.out, Catch::Contains("2000 calls of a script failed, expected 0; lua-scorer: a score is nil"));
    const Ran bad = tried(scripted("script: 'function score( return 1 end'"), options);
    CHECK(bad.status == 2);
    CHECK_THAT(bad.err, Catch::Contains("parameters.script: script:1:"));
  }
}

TEST_CASE("a policy that hangs, and one that eats memory, are killed, told, and have failed") {
  if (!routing::lua_built_in() || kSanitized) return;
  const Ran hanging = tried(scripted("instruction_budget: 1e9, script: 'function score() while true do end end'"),
                            {"--isolate", "--cpu-seconds", "1"});
  CHECK(hanging.status == 1);
  CHECK_THAT(hanging.out, Catch::Contains("killed: it used more than 1 s of CPU time"));
  const Ran hungry =
      tried(scripted("instruction_budget: 1e9, memory_budget: 1e10, script: 't = {} function score() for i "
                     "= 1, 1e8 do t[i] = {i} end return 1 end'"),
            {"--isolate", "--memory", "512 MiB", "--cpu-seconds", "60"});
  CHECK(hungry.status == 1);
  CHECK_THAT(hungry.out, Catch::Contains("FAILED"));
}

TEST_CASE("what a script says cannot pass itself off as the program's own lines") {
  if (!routing::lua_built_in()) return;
  const Ran ran = tried(scripted("script: 'function score() error(\"\\27[2J\\n1 passed, 0 failed\") end'"), {});
  CHECK(ran.status == 1);
  CHECK_THAT(ran.out, Catch::Contains("\\x1b[2J") && !Catch::Contains("\x1b") && !Catch::Contains("\n1 passed"));
}

TEST_CASE("memory in which the program itself does not start is bad input") {
  const Ran tiny =
      tried("apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n", {"--isolate", "--memory", "1 MB"});
  CHECK(tiny.status == 2);
  CHECK_THAT(tiny.err, Catch::Contains("--memory: must be at least 64 MiB"));
}

TEST_CASE("a policy in its own process ends with the one that started it") {
  if (!routing::lua_built_in() || kSanitized) return;
  const TemporaryFolder folder;
  write_file(folder.file("epp.yaml"),
             scripted("instruction_budget: 1e9, script: 'function score() while true do end end'"));
  write_file(folder.file("cases.yaml"), kCase);
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // orphans are ours to wait for
  Process parent({program_path(), "policy", "test", "--isolate", "--cpu-seconds", "5", folder.file("epp.yaml"),
                  folder.file("cases.yaml")});
  const std::string of_parent = std::to_string(parent.id());
  std::string child;
  while (child.empty()) child = read_file("/proc/" + of_parent + "/task/" + of_parent + "/children");
  ::kill(parent.id(), SIGKILL);
  parent.wait();
  int status = 0;
  REQUIRE(::waitpid(std::stoi(child), &status, 0) > 0);
  const bool ended = WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 127;
  CHECK(ended);  // and not by its limit, SIGXCPU
}
