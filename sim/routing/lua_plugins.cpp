// SPDX-License-Identifier: Apache-2.0
// poolcast's own plugins for rules that an expression cannot say: scripts, in the sandbox of sim/routing/lua_sandbox.h.
#include "sim/routing/lua_plugins.h"

namespace poolcast::routing {
namespace {

std::vector<ParameterInfo> script_parameters() {
  return {{"script", ParameterKind::kText, "", "", "its text, Lua 5.4 in a sandbox"},
          {"file", ParameterKind::kText, "", "", "instead: a file with it, beside the one that names it"},
          {"instruction_budget", ParameterKind::kInteger, "100000", "[1, 1e9]", "instructions of one call"},
          {"memory_budget", ParameterKind::kInteger, "4194304", "[65536, 1e10]", "bytes that the script may hold"}};
}

}  // namespace

void add_lua(std::vector<PluginInfo>& table) {
  auto parameters = script_parameters();
  table.push_back({"lua-scorer", "scorer", "poolcast",
                   "the number that the script's function score(request, endpoint, pool) returns, or of the list that "
                   "score_all(request, endpoints, pool) returns, clamped to [0, 1]; 0 where it fails or has no number",
                   parameters, make_lua_scorer});
  auto with_fallback = parameters;
  with_fallback.push_back({"fallback", ParameterKind::kText, "max-score-picker",
                           "max-score-picker|random-picker|weighted-random-picker", "picks where the script does not"});
  table.push_back({"lua-picker", "picker", "poolcast",
                   "the endpoint, or its place in the list, that the script's function pick(request, endpoints, pool) "
                   "returns; endpoint.score is the total; where it returns nil or fails the fallback picks",
                   with_fallback, make_lua_picker});
  parameters.push_back(
      {"on_error", ParameterKind::kText, "exclude", "exclude|keep", "what becomes of an endpoint where it fails"});
  table.push_back({"lua-filter", "filter", "poolcast",
                   "keep the endpoints for which the script's function keep(request, endpoint, pool) returns true, or "
                   "those true in the list that keep_all(request, endpoints, pool) returns",
                   parameters, make_lua_filter});
}

}  // namespace poolcast::routing
