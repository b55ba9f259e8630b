// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/routing/lua_signals.h"
#include "sim/routing/lua_state.h"
#include "sim/routing/registry.h"

namespace poolcast::routing {

/// The script of one plugin: compiled and run once, its functions called with every decision.
class LuaScript {
 public:
  /// Looks for the functions `one` and `all` that the script defines (null: there is no such form). Throws
  /// ParameterFault when it does not compile, fails, or defines none or both.
  LuaScript(const Settings& settings, const RandomStream& random, const char* one, const char* all);

  /// Fills in a decision; false when the memory did not suffice, which is counted.
  bool show(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
            std::span<const double> scores = {});
  bool for_one() const { return one_ != LUA_NOREF; }

  // Each leaves one value on the stack of `lua()`, or returns false and leaves none.
  bool call_one(std::size_t candidate);
  bool call_all();

  lua_State* lua() { return state_.lua(); }
  LuaSignals& signals() { return signals_; }
  /// Counts a call that came back with the wrong thing.
  void fail(const std::string& message) { state_.faults.add(message); }
  const ScriptFaults& faults() const { return state_.faults; }

 private:
  void compile(const std::string& text);
  void find_functions(const char* one, const char* all);

  LuaState state_;
  LuaSignals signals_;
  int one_ = LUA_NOREF, all_ = LUA_NOREF;  ///< in the registry
  int list_ = LUA_NOREF;                   ///< the list of candidates, for `all`
};

}  // namespace poolcast::routing
