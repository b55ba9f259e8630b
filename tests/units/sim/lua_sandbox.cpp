// SPDX-License-Identifier: Apache-2.0
// Whatever a script does stays inside: endless loops, memory, recursion, and anything that differs from run to run.
#include <catch2/catch.hpp>

#include "tests/units/sim/lua_fixture.h"

using namespace poolcast;
using namespace poolcast::testing;

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
