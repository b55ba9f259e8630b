// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/lua_signals.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "sim/routing/expression_fields.h"

namespace poolcast::routing {
namespace {

template <class Fields>
std::size_t place_of(const Fields& fields, std::string_view name) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
  }
  return fields.size();
}

int refuse_write(lua_State* lua) { return luaL_error(lua, "requests, endpoints and pools cannot be written to"); }

LuaSignals& self(lua_State* lua) { return *static_cast<LuaSignals*>(lua_touserdata(lua, lua_upvalueindex(1))); }

const char* key_name(lua_State* lua) { return lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : ""; }

}  // namespace

void LuaSignals::create() {
  lua_State* const lua = state_.lua();
  const int request = make_metatable(missing_request), pool = make_metatable(missing_pool);
  endpoint_metatable_ = make_metatable(missing_endpoint);
  for (const auto& [place, metatable] : {std::pair(&request_table_, request), std::pair(&pool_table_, pool)}) {
    lua_newtable(lua);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, metatable);
    lua_setmetatable(lua, -2);
    *place = luaL_ref(lua, LUA_REGISTRYINDEX);
  }
}

/// Its place in the registry.
int LuaSignals::make_metatable(lua_CFunction missing) {
  lua_State* const lua = state_.lua();
  lua_newtable(lua);
  lua_pushlightuserdata(lua, this);
  lua_pushcclosure(lua, missing, 1);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, refuse_write);
  lua_setfield(lua, -2, "__newindex");
  return luaL_ref(lua, LUA_REGISTRYINDEX);
}

void LuaSignals::grow(std::size_t count) {
  lua_State* const lua = state_.lua();
  endpoint_tables_.reserve(count);
  while (endpoint_tables_.size() < count) {
    lua_newtable(lua);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, endpoint_metatable_);
    lua_setmetatable(lua, -2);
    endpoint_tables_.push_back(luaL_ref(lua, LUA_REGISTRYINDEX));
  }
}

void LuaSignals::show(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
                      std::span<const double> scores) {
  request_ = &request;
  endpoints_ = &endpoints;
  candidates_ = candidates;
  scores_ = scores;
  column_.resize(candidates.size());
  grow(candidates.size());
  for (const Field& field : request_used_) set_request(field);
  for (const Field& field : endpoint_used_) set_endpoints(field);
  for (const Field& field : pool_used_) set_pool(field);
}

// ---------------------------------------------------------------- a field read for the first time

/// Of the key at 2 on the stack.
LuaSignals::Field LuaSignals::remember(std::size_t index, Over over) {
  lua_pushvalue(state_.lua(), 2);
  return {index, luaL_ref(state_.lua(), LUA_REGISTRYINDEX), over};
}

int LuaSignals::missing_request(lua_State* lua) {
  LuaSignals& signals = self(lua);
  const std::size_t index = place_of(request_fields(), key_name(lua));
  if (index == request_fields().size()) return luaL_error(lua, "a request has no field \"%s\"", key_name(lua));
  signals.request_used_.push_back(signals.remember(index));
  signals.set_request(signals.request_used_.back());
  lua_settop(lua, 2);
  lua_rawget(lua, 1);
  return 1;
}

std::size_t LuaSignals::endpoint_field(const char* name) const {
  if (std::strcmp(name, "id") == 0) return kId;
  if (std::strcmp(name, "labels") == 0) return kLabels;
  if (std::strcmp(name, "score") == 0 && !scores_.empty()) return kScore;
  return place_of(endpoint_fields(), name);
}

int LuaSignals::missing_endpoint(lua_State* lua) {
  LuaSignals& signals = self(lua);
  const std::size_t index = signals.endpoint_field(key_name(lua));
  if (index == endpoint_fields().size()) return luaL_error(lua, "an endpoint has no field \"%s\"", key_name(lua));
  const auto known = [index](const Field& field) { return field.index == index; };
  if (std::any_of(signals.endpoint_used_.begin(), signals.endpoint_used_.end(), known)) {
    return luaL_error(lua, "this endpoint is no candidate any more");
  }
  signals.endpoint_used_.push_back(signals.remember(index));
  signals.set_endpoints(signals.endpoint_used_.back());
  lua_settop(lua, 2);
  lua_rawget(lua, 1);
  return 1;
}

int LuaSignals::missing_pool(lua_State* lua) {
  LuaSignals& signals = self(lua);
  constexpr std::pair<std::string_view, Over> kFolds[] = {
      {"min_", Over::kLeast}, {"max_", Over::kMost}, {"mean_", Over::kMean}, {"sum_", Over::kSum}};
  const std::string_view name = key_name(lua);
  std::size_t index = name == "size" ? kSize : endpoint_fields().size();
  Over over = Over::kLeast;
  for (const auto& [prefix, fold] : kFolds) {
    if (name.substr(0, prefix.size()) != prefix) continue;
    index = place_of(endpoint_fields(), name.substr(prefix.size()));
    over = fold;
  }
  if (index == endpoint_fields().size()) return luaL_error(lua, "a pool has no field \"%s\"", key_name(lua));
  signals.pool_used_.push_back(signals.remember(index, over));
  signals.set_pool(signals.pool_used_.back());
  lua_settop(lua, 2);
  lua_rawget(lua, 1);
  return 1;
}

// ---------------------------------------------------------------- values

void LuaSignals::set_request(const Field& field) {
  lua_State* const lua = state_.lua();
  push_request();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, field.key);
  lua_pushnumber(lua, request_fields()[field.index].read(*request_));
  lua_rawset(lua, -3);
  lua_pop(lua, 1);
}

/// Fills `column_`.
void LuaSignals::read(std::size_t index) {
  if (index == kScore) {
    std::copy(scores_.begin(), scores_.end(), column_.begin());
  } else if (index == kId) {
    std::copy(candidates_.begin(), candidates_.end(), column_.begin());
  } else if (index != kLabels) {
    endpoint_fields()[index].read(*endpoints_, candidates_, column_.data());
  }
}

void LuaSignals::set_endpoints(const Field& field) {
  lua_State* const lua = state_.lua();
  read(field.index);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, field.key);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    push_endpoint(i);
    lua_pushvalue(lua, -2);
    push_value(field.index, i);
    lua_rawset(lua, -3);
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
}

void LuaSignals::push_value(std::size_t index, std::size_t candidate) {
  if (index == kLabels) return push_labels(candidates_[candidate]);
  if (index == kId) return lua_pushinteger(state_.lua(), candidates_[candidate]);
  lua_pushnumber(state_.lua(), column_[candidate]);
}

/// Labels are fixed, so an endpoint's table is made once.
void LuaSignals::push_labels(std::uint32_t endpoint) {
  lua_State* const lua = state_.lua();
  if (label_tables_.size() < endpoints_->size()) label_tables_.resize(endpoints_->size(), LUA_NOREF);
  if (label_tables_[endpoint] == LUA_NOREF) {
    lua_newtable(lua);
    if (!endpoints_->labels.empty()) {
      for (const auto& [key, value] : endpoints_->labels[endpoint]) {
        lua_pushlstring(lua, value.data(), value.size());
        lua_setfield(lua, -2, key.c_str());
      }
    }
    label_tables_[endpoint] = luaL_ref(lua, LUA_REGISTRYINDEX);
  }
  lua_rawgeti(lua, LUA_REGISTRYINDEX, label_tables_[endpoint]);
}

void LuaSignals::set_pool(const Field& field) {
  lua_State* const lua = state_.lua();
  double value = static_cast<double>(candidates_.size());
  if (field.index != kSize) {
    read(field.index);
    value = fold(field.over);
  }
  push_pool();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, field.key);
  lua_pushnumber(lua, value);
  lua_rawset(lua, -3);
  lua_pop(lua, 1);
}

/// Over `column_`, which is not empty.
double LuaSignals::fold(Over over) const {
  switch (over) {
    case Over::kLeast:
      return *std::min_element(column_.begin(), column_.end());
    case Over::kMost:
      return *std::max_element(column_.begin(), column_.end());
    case Over::kMean:
    case Over::kSum:
      break;
  }
  double sum = 0;
  for (const double value : column_) sum += value;
  return over == Over::kSum ? sum : sum / static_cast<double>(column_.size());
}

void LuaSignals::push_request() { lua_rawgeti(state_.lua(), LUA_REGISTRYINDEX, request_table_); }
void LuaSignals::push_pool() { lua_rawgeti(state_.lua(), LUA_REGISTRYINDEX, pool_table_); }
void LuaSignals::push_endpoint(std::size_t candidate) {
  lua_rawgeti(state_.lua(), LUA_REGISTRYINDEX, endpoint_tables_[candidate]);
}

void LuaSignals::push_endpoints() {
  lua_State* const lua = state_.lua();
  lua_createtable(lua, static_cast<int>(candidates_.size()), 0);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    push_endpoint(i);
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i + 1));
  }
}

}  // namespace poolcast::routing
