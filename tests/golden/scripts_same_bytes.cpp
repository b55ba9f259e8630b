// SPDX-License-Identifier: Apache-2.0
// A script that leans on everything that differs from run to run in Lua: hashes of texts and of addresses, which decide
// when tables grow, what # is of a list with holes, and so where budgets end.
#include <catch2/catch.hpp>

#include "sim/routing/lua_plugins.h"
#include "tests/support/program.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr const char* kScript = R"(
local t, n, h = {}, 0, {}
function score(request, endpoint, pool)
  n = n + 1
  for i = 1, 1 + n % 17 do
    t["k" .. (n * 7 + i) % 400] = {i}
    t["k" .. (n * 13 + i * 3) % 400] = nil
    if n % 5 == 0 then t[i] = i end
    if n % 11 == 0 then t[i * 2] = nil end
    h[i % 50] = ("x" .. n) .. i
    h[{}] = i
    h[endpoint] = n
    if n % 29 == 0 then h = {} end
  end
  local sum = 0
  for k, v in sorted(t) do sum = sum + (type(v) == "table" and v[1] or v) end
  if n % 97 == 0 then local s = "" while true do s = s .. tostring(n) end end
  return ((sum + #t + #h) % 101) / 101 + math.random() / 1000
end
)";

constexpr const char* kConfig = R"(apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- type: lua-scorer
  parameters: {file: nasty.lua, memory_budget: 90000, instruction_budget: 9000}
)";

}  // namespace

TEST_CASE("a script near its budgets, with keys of every kind, gives the same bytes in every process") {
  if (!routing::lua_built_in()) return;
  const TemporaryFolder folder;
  write_file(folder.file("nasty.lua"), kScript);
  write_file(folder.file("nasty.yaml"), kConfig);
  const auto run = [&] {
    return run_program({"run", "scenarios/examples/quickstart.yaml", "--set", "workload.synth.requests=500", "--set",
                        "pools.nvidia.replicas=3", "--set",
                        "routing.pool={config: " + folder.file("nasty.yaml") + "}"});
  };
  const Ran first = run();
  REQUIRE(first.status == 0);
  CHECK_THAT(first.out, Catch::Contains("The script of lua-scorer (pool nvidia) failed"));
  for (int i = 0; i < 5; ++i) CHECK(run().out == first.out);
}
