// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/lua_script.h"

#include <optional>

#include "sim/routing/lua_sandbox.h"

namespace poolcast::routing {
namespace {

LuaState::Limits limits_of(const Settings& settings) {
  return {settings.integer("instruction_budget"), settings.integer("memory_budget")};
}

struct Lookup {
  const char* name;
  int found = LUA_NOREF;
};

void look_up(lua_State* lua, void* data) {
  auto& lookup = *static_cast<Lookup*>(data);
  if (lookup.name == nullptr || lua_getglobal(lua, lookup.name) != LUA_TFUNCTION) return;
  lookup.found = luaL_ref(lua, LUA_REGISTRYINDEX);
}

struct Shown {
  LuaSignals& signals;
  const RequestView& request;
  const Endpoints& endpoints;
  std::span<const std::uint32_t> candidates;
  std::span<const double> scores;
  int list;
};

void show_decision(lua_State* lua, void* data) {
  const auto& shown = *static_cast<Shown*>(data);
  shown.signals.show(shown.request, shown.endpoints, shown.candidates, shown.scores);
  if (shown.list == LUA_NOREF) return;
  shown.signals.push_endpoints();
  lua_rawseti(lua, LUA_REGISTRYINDEX, shown.list);
}

[[noreturn]] void refuse(const std::string& message) { throw ParameterFault({"script"}, message); }

}  // namespace

LuaScript::LuaScript(const Settings& settings, const RandomStream& random, const char* one, const char* all)
    : state_(limits_of(settings), random), signals_(state_) {
  const std::string& text = settings.text("script");
  if (!settings.text("file").empty()) throw ParameterFault({"file"}, "only a configuration in a file can name a file");
  if (text.empty()) throw ParameterFault({}, "needs a script or a file");
  if (const auto objection = script_objection(text)) refuse(*objection);
  compile(text);
  find_functions(one, all);
  state_.faults = {};
}

void LuaScript::compile(const std::string& text) {
  bool ready =
      state_.prepare([](lua_State* lua, void*) { open_sandbox(lua); }, nullptr) &&
      state_.prepare([](lua_State*, void* signals) { static_cast<LuaSignals*>(signals)->create(); }, &signals_);
  if (ready) {
    const int status = luaL_loadbufferx(lua(), text.data(), text.size(), "=script", "t");
    if (status != LUA_OK && status != LUA_ERRMEM) refuse(lua_tostring(lua(), -1));
    ready = status == LUA_OK && state_.call(0, 0);
  }
  if (!ready) refuse(state_.faults.first.empty() ? "does not fit into its memory_budget" : state_.faults.first);
}

void LuaScript::find_functions(const char* one, const char* all) {
  Lookup found_one{one}, found_all{all};
  state_.prepare(look_up, &found_one);
  state_.prepare(look_up, &found_all);
  one_ = found_one.found;
  all_ = found_all.found;
  std::string names;
  for (const char* name : {one, all}) {
    if (name != nullptr) names += (names.empty() ? "" : " or ") + std::string(name);
  }
  if (one_ == LUA_NOREF && all_ == LUA_NOREF) refuse("must define the function " + names);
  if (one_ != LUA_NOREF && all_ != LUA_NOREF) refuse("must define " + names + ", not both");
  if (one_ != LUA_NOREF) return;
  const auto make_list = [](lua_State* lua, void* list) {
    lua_newtable(lua);
    *static_cast<int*>(list) = luaL_ref(lua, LUA_REGISTRYINDEX);
  };
  if (!state_.prepare(make_list, &list_)) refuse("does not fit into its memory_budget");
}

bool LuaScript::show(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
                     std::span<const double> scores) {
  Shown shown{signals_, request, endpoints, candidates, scores, list_};
  return state_.prepare(show_decision, &shown);
}

bool LuaScript::call_one(std::size_t candidate) {
  lua_rawgeti(lua(), LUA_REGISTRYINDEX, one_);
  signals_.push_request();
  signals_.push_endpoint(candidate);
  signals_.push_pool();
  return state_.call(3, 1);
}

bool LuaScript::call_all() {
  lua_rawgeti(lua(), LUA_REGISTRYINDEX, all_);
  signals_.push_request();
  lua_rawgeti(lua(), LUA_REGISTRYINDEX, list_);
  signals_.push_pool();
  return state_.call(3, 1);
}

}  // namespace poolcast::routing
