// SPDX-License-Identifier: Apache-2.0
// Scripts of policy authors: what they decide, and that whatever they do stays inside, is counted and comes again.
#include <catch2/catch.hpp>
#include <numeric>

#include "sim/routing/lua_plugins.h"
#include "sim/routing/pipeline.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::routing;

namespace {

constexpr auto text = text_value;
constexpr auto number = number_value;

Value scripted(const std::string& script, std::vector<std::pair<std::string, Value>> more = {}) {
  more.emplace(more.begin(), "script", text(script));
  return map_value(std::move(more));
}

std::unique_ptr<Plugin> make(const char* type, const Value& parameters, std::uint64_t seed = 3) {
  return make_plugin(*find_plugin(type), parameters, {.random = RandomStream(seed, type)});
}

std::string refusal(const char* type, const Value& parameters) {
  try {
    make(type, parameters);
  } catch (const ParameterFault& fault) {
    return (fault.path.empty() ? "" : fault.path.front() + ": ") + fault.what();
  }
  return "none";
}

struct Scored {
  std::vector<double> scores;
  ScriptFaults faults;
};

/// Four endpoints with 0, 1, 2 and 3 waiting requests.
Endpoints four() {
  Endpoints e;
  e.reset(4);
  e.waiting = {0, 1, 2, 3};
  e.kv_usage = {0.5, 0.25, 0.125, 0};
  return e;
}

std::vector<std::uint32_t> all(const Endpoints& e) {
  std::vector<std::uint32_t> indices(e.size());
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

Scored scores_of(Plugin& plugin, const Endpoints& e, const RequestView& request = {}) {
  Scored out;
  out.scores.assign(e.size(), -1);
  dynamic_cast<Scorer&>(plugin).score(request, e, all(e), out.scores);
  out.faults = *plugin.faults();
  return out;
}

Scored scored(const std::string& script, std::vector<std::pair<std::string, Value>> more = {}) {
  const auto plugin = make("lua-scorer", scripted(script, std::move(more)));
  return scores_of(*plugin, four());
}

/// What a script's function computes, as text that its error brings out.
std::string said(const std::string& body) {
  return scored("function score(request, endpoint, pool) " + body + " end").faults.first;
}

using Scores = std::vector<double>;

}  // namespace

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

TEST_CASE("an endless loop ends at its budget, call after call") {
  if (!lua_built_in()) return;
  const auto endless = {"while true do end", "goto again ::again:: goto again", "repeat until false",
                        "for i = 1, math.huge do end", "local function f() return f() end return f()"};
  for (const char* body : endless) {
    CAPTURE(body);
    const Scored out = scored("function score(r, e) if e.waiting > 1 then return 1 end " + std::string(body) + " end");
    CHECK(out.scores == Scores{0, 0, 1, 1});
    CHECK(out.faults.failed == 2);
    CHECK(out.faults.first == "used up its 100000 instructions");
  }
  CHECK(scored("function score() while true do end end", {{"instruction_budget", number(77)}}).faults.first ==
        "used up its 77 instructions");
  CHECK(refusal("lua-scorer", scripted("while true do end")) == "script: used up its 100000 instructions");
}

TEST_CASE("a memory bomb ends at its budget") {
  if (!lua_built_in()) return;
  const std::string table = "local t = {} for i = 1, 1e9 do t[i] = {i} end";
  CHECK(said(table) == "used up its 100000 instructions");
  CHECK(scored("function score() " + table + " end", {{"instruction_budget", number(1e8)}}).faults.first ==
        "used up its 4194304 bytes of memory");
  // What a script hoards between calls counts too; a call that needs no memory goes on.
  const Scored hoard = scored(R"(
    hoard = {}
    function score(request, endpoint)
      if endpoint.waiting >= 2 then return 1 end
      for i = 1, 1e6 do hoard[#hoard + 1] = {{}, {}} end
    end)",
                              {{"instruction_budget", number(1e8)}, {"memory_budget", number(1e6)}});
  CHECK(hoard.scores == Scores{0, 0, 1, 1});
  CHECK(hoard.faults.first == "used up its 1000000 bytes of memory");
}

TEST_CASE("huge strings end at 16 KiB, by concatenation and by concat") {
  if (!lua_built_in()) return;
  CHECK(said("local s = 'x' while true do s = s .. s end") == "made a string of more than 16384 bytes");
  CHECK(said("local t = {} for i = 1, 5000 do t[i] = 'xxxxxxxx' end return #table.concat(t)") ==
        "made a string of more than 16384 bytes");
}

TEST_CASE("deep recursion is contained") {
  if (!lua_built_in()) return;
  CHECK(said("local function f(n) return 1 + f(n + 1) end return f(1)") == "used up its 100000 instructions");
  CHECK(scored("function score() local function f(n) return 1 + f(n + 1) end return f(1) end",
               {{"instruction_budget", number(1e8)}, {"memory_budget", number(1e9)}})
            .faults.first.find("stack overflow") != std::string::npos);
  std::string nested = "x = " + std::string(5000, '(') + "1" + std::string(5000, ')');
  CHECK(refusal("lua-scorer", scripted(nested)).find("C stack overflow") != std::string::npos);
}

TEST_CASE("sorting is stable, the same every time, and cannot be stopped from stopping") {
  if (!lua_built_in()) return;
  CHECK(said("table.sort({3, 2, 1}, function(a, b) ::again:: goto again end)") == "used up its 100000 instructions");
  CHECK(said(R"(
    local t = {}
    for i = 1, 300 do t[i] = {key = i % 3, i = i} end
    table.sort(t, function(a, b) return a.key < b.key end)
    for i = 2, 300 do
      assert(t[i - 1].key < t[i].key or t[i - 1].key == t[i].key and t[i - 1].i < t[i].i, i)
    end
    table.sort(t, function(a, b) return true end)
    local order = 0
    for i = 1, 300 do order = (order * 31 + t[i].i) % 1000003 end
    error(tostring(#t) .. " " .. order, 0))") == "300 756569");
  CHECK(said("table.sort({1, 'x', {}})").find("attempt to compare") != std::string::npos);
}

TEST_CASE("lists grow and shrink as Lua's do, and holes cost what they cost") {
  if (!lua_built_in()) return;
  CHECK(said(R"(
    local t = {1, 2, 3}
    table.insert(t, 4)
    table.insert(t, 1, 0)
    table.insert(t, 3, 1.5)
    local gone, last = table.remove(t, 1), table.remove(t)
    error(table.concat(t, " ") .. " / " .. gone .. " " .. last .. " " .. select("#", table.unpack(t)), 0))") ==
        "1 1.5 2 3 / 0 4 4");
  CHECK(said("table.insert({1}, 3, 1)") == "script:1: position out of bounds");
  std::string sparse = "local t = {x = 1";  // its length may be anything: 2^61 and more
  for (int i = 0; i < 63; ++i) sparse += ", [" + std::to_string(std::int64_t{1} << i) + "] = 1";
  sparse += "} assert(#t > 1e18) ";
  CHECK(said(sparse + "table.insert(t, 1, 1)") == "used up its 100000 instructions");
  CHECK(said(sparse + "return table.concat(t)") == "used up its 100000 instructions");
  CHECK(said(sparse + "return table.unpack(t)") == "used up its 100000 instructions");
}

TEST_CASE("nothing that differs from run to run is within reach") {
  if (!lua_built_in()) return;
  CHECK(said("return tostring({})") == "script:1: tostring: a table has no text");
  CHECK(said("return tostring(score)") == "script:1: tostring: a function has no text");
  CHECK(said("return ('a'):rep(9)").find("attempt to index a string value") != std::string::npos);
  for (const char* name :
       {"pairs",     "next",    "pcall",          "xpcall", "load",     "loadstring",      "loadfile",
        "dofile",    "require", "collectgarbage", "print",  "warn",     "coroutine",       "string",
        "os",        "io",      "package",        "debug",  "utf8",     "setmetatable",    "getmetatable",
        "rawget",    "rawset",  "rawequal",       "rawlen", "_VERSION", "math.randomseed", "math.sin",
        "table.move"}) {
    CAPTURE(name);
    CHECK(said("error(tostring(" + std::string(name) + " == nil), 0)") == "true");
  }
  CHECK(said("local keys = '' for k in sorted(_G) do keys = keys .. k .. ' ' end error(keys, 0)") ==
        "_G assert error ipairs math score select sorted table tonumber tostring type ");
}

TEST_CASE("errors that are no text have no address") {
  if (!lua_built_in()) return;
  CHECK(said("error({code = 1})") == "raised an error that is no text but a table");
  CHECK(said("error()") == "raised an error that is no text but a nil");
  CHECK(said("error(score)") == "raised an error that is no text but a function");
  CHECK(said("local x <close> = {}").find("non-closable value") != std::string::npos);
}

TEST_CASE("sorted walks over numbers, then texts, each in order") {
  if (!lua_built_in()) return;
  CHECK(said(R"(
    local t, keys = {b = 1, a = 2, [10] = 3, [2.5] = 4, [-1] = 5, ab = 6, [""] = 7}, ""
    for k, v in sorted(t) do keys = keys .. k .. "=" .. v .. " " end
    error(keys, 0))") == "-1=5 2.5=4 10=3 =7 a=2 ab=6 b=1 ");
  CHECK(said("sorted({[{}] = 1})") == "script:1: sorted: a key is a table, not a number or text");
  CHECK(said("sorted(1)") == "script:1: sorted: needs a table, got a number");
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
