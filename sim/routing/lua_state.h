// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <lua.hpp>

#include "sim/random.h"
#include "sim/routing/lua_arena.h"
#include "sim/routing/script_faults.h"

namespace poolcast::routing {

/// A Lua state with budgets, for sources that include Lua anyway. Nothing of a script's doing passes its borders: an
/// error, an endless loop and a full memory all end in a message.
///
/// The budget of instructions is per call. Besides the virtual machine's instructions it pays for memory asked for (one
/// per 16 bytes), for collections that a full memory forces, and for what library functions walk over, so that no C
/// function works long for one instruction.
class LuaState {
 public:
  struct Limits {
    std::int64_t instructions = 100'000;
    std::int64_t bytes = 4 << 20;
  };
  static constexpr std::size_t kLongestString = 16 << 10;  ///< bytes: comparing two stays cheap

  LuaState(const Limits& limits, const RandomStream& random);
  ~LuaState();
  LuaState(const LuaState&) = delete;
  LuaState& operator=(const LuaState&) = delete;

  lua_State* lua() { return lua_; }

  /// Calls the function below its `arguments` on the stack, under the budget. False, and no result, when it failed:
  /// `faults` then counts it.
  bool call(int arguments, int results);
  /// Runs `work(lua, data)` without a budget of instructions; false when the memory did not suffice.
  bool prepare(void (*work)(lua_State* lua, void* data), void* data);

  ScriptFaults faults;

  // For library functions, which are given the lua_State alone.
  static LuaState& of(lua_State* lua);
  /// Pays for work that the hook does not see; raises a Lua error when the budget is used up.
  void charge(std::int64_t instructions);
  RandomStream& random() { return random_; }

 private:
  enum class Stop : std::uint8_t { kNone, kInstructions, kMemory, kString };
  static void* allocate(void* self, void* old, std::size_t old_size, std::size_t size);
  static void count(lua_State* lua, lua_Debug* what);
  void* resize(void* old, std::size_t old_size, std::size_t size);
  std::string message();

  Limits limits_;
  LuaArena arena_;
  RandomStream random_;
  std::int64_t used_ = 0;      ///< of the instructions, by the present call
  std::int64_t in_use_ = 0;    ///< bytes
  std::int64_t interval_ = 0;  ///< instructions between two calls of the hook
  bool counting_ = false;
  Stop stop_ = Stop::kNone;
  lua_State* lua_ = nullptr;
};

}  // namespace poolcast::routing
