// SPDX-License-Identifier: Apache-2.0
// Scripts of policy authors: what they decide, and that whatever they do stays inside, is counted and comes again.
#include <catch2/catch.hpp>

#include "sim/routing/pipeline.h"
#include "tests/support/worlds.h"
#include "tests/units/sim/lua_fixture.h"

using namespace poolcast;
using namespace poolcast::testing;

TEST_CASE("a build without Lua says so, and knows the plugins' parameters") {
  CHECK(find_plugin("lua-scorer")->parameters.size() == 4);
  if (lua_built_in()) return;
  CHECK(refusal("lua-scorer", scripted("x")) ==
        "this build of poolcast has no Lua: liblua5.4-dev was missing when it was built");
}

TEST_CASE("a script scores endpoints one by one or all at once") {
  if (!lua_built_in()) return;
  const Scores half{1, 0.5, 1.0 / 3, 0.25};
  CHECK(scored("function score(r, e) return 1 / (1 + e.waiting) end").scores == half);
  const Scored batch = scored(R"(
    function score_all(r, endpoints)
      local out = {}
      for i, e in ipairs(endpoints) do out[i] = 1 / (1 + e.waiting) end
      return out
    end)");
  CHECK(batch.scores == half);
  CHECK(batch.faults.failed == 0);
  CHECK(batch.faults.calls == 1);
}

TEST_CASE("a script sees the fields of expressions, as floats, and the figures of the pool over the candidates") {
  if (!lua_built_in()) return;
  Endpoints e = four();
  const auto plugin = make("lua-scorer", scripted(R"(
    function score(request, endpoint, pool)
      assert(math.type(endpoint.waiting) == "float" and math.type(endpoint.id) == "integer")
      return request.prompt_tokens + endpoint.waiting * 10 + endpoint.kv_usage +
             pool.size * 100 + pool.min_waiting + pool.max_waiting + pool.mean_waiting + pool.sum_waiting
    end)"));
  RequestView request;
  request.prompt_tokens = 1000;
  CHECK(scores_of(*plugin, e, request).scores == Scores{1411, 1420.75, 1430.625, 1440.5});
  e.waiting = {7, 7, 7, 7};  // and again, with what changed
  request.prompt_tokens = 0;
  CHECK(scores_of(*plugin, e, request).scores[3] == 70 + 400 + 7 + 7 + 7 + 28);
  Endpoints fewer = four();
  std::vector<std::uint32_t> two{3, 1};
  std::vector<double> scores(2);
  dynamic_cast<Scorer&>(*plugin).score(request, fewer, two, scores);
  CHECK(scores == Scores{30 + 200 + 1 + 3 + 2 + 4, 10.25 + 200 + 1 + 3 + 2 + 4});
}

TEST_CASE("a script reads the labels of endpoints, in every decision those of its candidates") {
  if (!lua_built_in()) return;
  Endpoints e = four();
  e.labels = {{{"zone", "a"}}, {{"zone", "b"}, {"tier", "hot"}}, {}, {{"zone", "a"}}};
  const auto plugin = make("lua-filter", scripted("function keep(r, e) return e.labels.zone == 'a' end"));
  std::vector<std::uint32_t> kept = all(e);
  dynamic_cast<Filter&>(*plugin).filter({}, e, kept);
  CHECK(kept == std::vector<std::uint32_t>{0, 3});
  kept = {3, 1, 2};
  dynamic_cast<Filter&>(*plugin).filter({}, e, kept);
  CHECK(kept == std::vector<std::uint32_t>{3});
  CHECK(said("return endpoint.labels.zone") == "a score is nil, not a number");  // none at all
}

TEST_CASE("what is not a score is an error, counted by endpoint, and scores 0") {
  if (!lua_built_in()) return;
  const Scored out = scored(R"(
    function score(request, endpoint)
      if endpoint.waiting == 1 then return 0 / 0 end
      if endpoint.waiting == 2 then return "1" end
      if endpoint.waiting == 3 then error("three") end
      return 1
    end)");
  CHECK(out.scores == Scores{1, 0, 0, 0});
  CHECK(out.faults.failed == 3);
  CHECK(out.faults.calls == 4);
  CHECK(out.faults.first == "a score is nan");
  CHECK(scored("function score_all() return {1, 2, 3} end").faults.first ==
        "must return a list with one value for each of the 4 endpoints");
  CHECK(scored("function score_all() return {1, 0/0, {}, 1} end").scores == Scores{1, 0, 0, 1});
}

TEST_CASE("a division by zero is infinite, or nan, and never ends a run") {
  if (!lua_built_in()) return;
  CHECK(scored("function score(r, e) return 1 / e.waiting end").scores[0] > 1e300);
  CHECK(scored("function score(r, e) return e.waiting / e.waiting end").scores == Scores{0, 1, 1, 1});
  CHECK(said("return 1 // 0") == "script:1: attempt to divide by zero");  // of integers
}

TEST_CASE("random numbers come from the plugin's own stream") {
  if (!lua_built_in()) return;
  const std::string script = R"(
    function score(request, endpoint)
      local whole = math.random(6)
      assert(whole >= 1 and whole <= 6 and math.type(whole) == "integer" and math.random(-2, -2) == -2)
      return math.random()
    end)";
  const auto run = [&](std::uint64_t seed) {
    const auto plugin = make("lua-scorer", scripted(script), seed);
    const Scores first = scores_of(*plugin, four()).scores;
    CHECK(scores_of(*plugin, four()).scores != first);
    CHECK(plugin->faults()->failed == 0);
    return first;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("exp, log and pow are the portable ones, and the operator ^ is refused by its place") {
  if (!lua_built_in()) return;
  CHECK(
      said("error(tostring(math.exp(1) == " + std::to_string(1) +
           " ) .. math.log(8, 2) .. ' ' .. math.pow(-3, 3) .. ' ' .. math.pow(2, -1) .. ' ' .. tostring(math.log(-1)),"
           " 0)") == "false3.0 -27.0 0.5 nan");
  CHECK(refusal("lua-scorer", scripted("-- 2^3\nx = '^' .. [[^]]\nfunction score(r, e)\n  return e.waiting^2\nend"))
            .find("script: script:4: the operator ^ is left out") == 0);
  CHECK(refusal("lua-scorer", scripted("--[==[ ^ ]] ^ ]==] x = \"\\\"^\"\nfunction score() return 1 end")) == "none");
}

TEST_CASE("a script that does not compile, or defines nothing of use, is refused where it stands") {
  if (!lua_built_in()) return;
  CHECK(refusal("lua-scorer", {}) == "needs a script or a file");
  CHECK(refusal("lua-scorer", scripted("function score( return 1 end")).find("script: script:1: ") == 0);
  CHECK(refusal("lua-scorer", scripted("x = nil + 1")).find("script: script:1: attempt to perform arithmetic") == 0);
  CHECK(refusal("lua-scorer", scripted("x = 1")) == "script: must define the function score or score_all");
  CHECK(refusal("lua-picker", scripted("x = 1")) == "script: must define the function pick");
  CHECK(refusal("lua-filter", scripted("function keep() end function keep_all() end")) ==
        "script: must define keep or keep_all, not both");
  CHECK(refusal("lua-scorer", scripted("\x1bLua")).find("script: ") == 0);  // compiled code
  CHECK(said("return endpoint.wating") == "script:1: an endpoint has no field \"wating\"");
  CHECK(said("return request[1]") == "script:1: a request has no field \"\"");
  CHECK(said("return pool.max_nothing") == "script:1: a pool has no field \"max_nothing\"");
  CHECK(said("endpoint.extra = 1") == "script:1: requests, endpoints and pools cannot be written to");
}

TEST_CASE("a filter excludes where its script fails, or keeps") {
  if (!lua_built_in()) return;
  const std::string script = "function keep(r, e) if e.waiting == 3 then error('x') end return e.waiting >= 1 end";
  for (const auto& [on_error, left] : {std::pair("exclude", std::vector<std::uint32_t>{1, 2}),
                                       std::pair("keep", std::vector<std::uint32_t>{1, 2, 3})}) {
    const auto plugin = make("lua-filter", scripted(script, {{"on_error", text(on_error)}}));
    std::vector<std::uint32_t> kept = all(four());
    dynamic_cast<Filter&>(*plugin).filter({}, four(), kept);
    CHECK(kept == left);
    CHECK(plugin->faults()->failed == 1);
  }
  const auto batch = make("lua-filter", scripted("function keep_all(r, es) return {true, false, 1, true} end"));
  std::vector<std::uint32_t> kept = all(four());
  dynamic_cast<Filter&>(*batch).filter({}, four(), kept);
  CHECK(kept == std::vector<std::uint32_t>{0, 3});
  CHECK(batch->faults()->first == "a filter says number, not true or false");
}

namespace {

std::vector<std::uint32_t> picked_by(const std::string& script, ScriptFaults* faults = nullptr) {
  PipelineSpec spec;
  spec.plugins = {{"queue", "queue-scorer", {}}, {"pick", "lua-picker", scripted(script)}};
  complete_pipeline(spec);
  Pipeline pipeline(spec, 1, "test");
  const Endpoints e = four();
  pipeline.bind(e);
  std::vector<std::uint32_t> picked;
  for (int i = 0; i < 3; ++i) picked.push_back(*pipeline.decide({}, e, all(e)).endpoint);
  if (faults != nullptr) *faults = pipeline.script_faults().at(0).second;
  return picked;
}

}  // namespace

TEST_CASE("a picker returns an endpoint or its place, and the fallback picks otherwise") {
  if (!lua_built_in()) return;
  using Picked = std::vector<std::uint32_t>;
  CHECK(picked_by("function pick(r, endpoints) return #endpoints end") == Picked{3, 3, 3});
  CHECK(picked_by("function pick(r, endpoints) return endpoints[3] end") == Picked{2, 2, 2});
  CHECK(picked_by(R"(
    function pick(r, endpoints)
      table.sort(endpoints, function(a, b) return a.score < b.score end)
      return endpoints[1]  -- the fullest queue
    end)") == Picked{3, 3, 3});
  CHECK(picked_by("turn = 0 function pick(r, e) turn = turn % #e + 1 return turn end") == Picked{0, 1, 2});
  ScriptFaults faults;
  CHECK(picked_by("function pick() return nil end", &faults) == Picked{0, 0, 0});
  CHECK(faults.failed == 0);
  for (const char* wrong : {"0", "5", "1.5", "'1'", "{}", "true", "error('x')"}) {
    CAPTURE(wrong);
    CHECK(picked_by("function pick() return " + std::string(wrong) + " end", &faults) == Picked{0, 0, 0});
    CHECK(faults.failed == 3);
  }
}

TEST_CASE("a failing script shows up in the notes of a run, the same in every run") {
  if (!lua_built_in()) return;
  const auto notes = [] {
    PipelineSpec pipeline;
    pipeline.plugins = {
        {"mine", "lua-scorer",
         scripted("n = 0 function score(r, e) n = n + 1 if n % 3 == 0 then error({}) end return math.random() end")}};
    complete_pipeline(pipeline);
    SimulationSpec spec = testing::one_pool(testing::fixed_step(0.01), 2);
    spec.routing.pool[0].pipeline = std::make_shared<PipelineSpec>(pipeline);
    std::vector<Arrival> arrivals;
    for (int i = 0; i < 30; ++i) arrivals.push_back(testing::arrival(0.1 * i, 10, 2));
    testing::add_list(spec, arrivals);
    return simulate(std::move(spec)).notes;
  };
  const std::string wanted =
      "The script of mine (pool pool) failed 20 times in 60 calls, at first with: raised an error that is no text but "
      "a table.";
  const auto told = notes();
  CHECK(std::count(told.begin(), told.end(), wanted) == 1);
  CHECK(notes() == told);
}
