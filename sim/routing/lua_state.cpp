// SPDX-License-Identifier: Apache-2.0
// Lua hashes strings with a seed that differs from run to run. The linker (sim/CMakeLists.txt) lets it ask
// __wrap_luaS_hash for that seed; strings themselves are hashed within the library, by the function that this replaces.
// Lua leaves its functions by longjmp: no frame here that an error may cross holds an object with a destructor.
#include "sim/routing/lua_state.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace poolcast::routing {
namespace {

constexpr std::int64_t kBytesPerInstruction = 16;
constexpr std::int64_t kBytesPerCollected = 64;
constexpr std::int64_t kHookInterval = 1000;
constexpr std::int64_t kArenas = 8;  ///< blocks are up to twice as large as asked for, and stay with their size

struct Prepared {
  void (*work)(lua_State*, void*);
  void* data;
};

int run_prepared(lua_State* lua) {
  const auto* prepared = static_cast<Prepared*>(lua_touserdata(lua, 1));
  lua_settop(lua, 0);
  prepared->work(lua, prepared->data);
  return 0;
}

}  // namespace

extern "C" unsigned int __wrap_luaS_hash(const char*, std::size_t, unsigned int);
extern "C" unsigned int __wrap_luaS_hash(const char*, std::size_t, unsigned int) { return 20261130; }

LuaState::LuaState(const Limits& limits, const RandomStream& random)
    : limits_(limits),
      arena_(static_cast<std::size_t>(kArenas * limits.bytes)),
      random_(random),
      interval_(std::min(limits.instructions, kHookInterval)) {
  lua_ = lua_newstate(allocate, this);
  if (lua_ == nullptr) throw std::bad_alloc();
}

LuaState::~LuaState() { lua_close(lua_); }

LuaState& LuaState::of(lua_State* lua) {
  void* self = nullptr;
  lua_getallocf(lua, &self);
  return *static_cast<LuaState*>(self);
}

void* LuaState::allocate(void* self, void* old, std::size_t old_size, std::size_t size) {
  return static_cast<LuaState*>(self)->resize(old, old_size, size);
}

/// Without `old`, Lua says in `old_size` what kind of object the memory is for.
void* LuaState::resize(void* old, std::size_t old_size, std::size_t size) {
  const std::int64_t before = old != nullptr ? static_cast<std::int64_t>(old_size) : 0;
  const std::int64_t grown = static_cast<std::int64_t>(size) - before;
  if (grown > 0) {
    if (old == nullptr && old_size == LUA_TSTRING && size > kLongestString) {
      stop_ = Stop::kString;
      return nullptr;
    }
    if (in_use_ + grown > limits_.bytes) {
      used_ += in_use_ / kBytesPerCollected;  // Lua collects all garbage now and asks once more
      stop_ = Stop::kMemory;
      return nullptr;
    }
    used_ += grown / kBytesPerInstruction;
    if (counting_ && used_ > limits_.instructions) {
      stop_ = Stop::kInstructions;
      return nullptr;
    }
  }
  void* memory = nullptr;
  if (size == 0) {
    if (before > 0) arena_.release(old, old_size);
  } else {
    memory = before > 0 ? arena_.resize(old, old_size, size) : arena_.allocate(size);
    if (memory == nullptr) {
      stop_ = Stop::kMemory;
      return nullptr;
    }
  }
  in_use_ += grown;
  return memory;
}

void LuaState::count(lua_State* lua, lua_Debug*) {
  LuaState& state = of(lua);
  state.charge(state.interval_);
}

void LuaState::charge(std::int64_t instructions) {
  used_ += std::min(instructions, limits_.instructions);  // a length may be near 2^63
  if (!counting_ || used_ < limits_.instructions) return;
  stop_ = Stop::kInstructions;
  luaL_error(lua_, "budget");
}

bool LuaState::call(int arguments, int results) {
  ++faults.calls;
  used_ = 0;
  stop_ = Stop::kNone;
  counting_ = true;
  lua_sethook(lua_, count, LUA_MASKCOUNT, static_cast<int>(interval_));
  const int status = lua_pcall(lua_, arguments, results, 0);
  counting_ = false;
  lua_sethook(lua_, nullptr, 0, 0);
  if (status == LUA_OK) return true;
  const bool stopped = status == LUA_ERRMEM || (stop_ == Stop::kInstructions && used_ >= limits_.instructions);
  if (!stopped) stop_ = Stop::kNone;
  faults.add(message());
  lua_pop(lua_, 1);
  return false;
}

bool LuaState::prepare(void (*work)(lua_State* lua, void* data), void* data) {
  Prepared prepared{work, data};
  stop_ = Stop::kNone;
  lua_pushcfunction(lua_, run_prepared);
  lua_pushlightuserdata(lua_, &prepared);
  const int status = lua_pcall(lua_, 1, 0, 0);
  if (status == LUA_OK) return true;
  ++faults.calls;
  faults.add(message());
  lua_pop(lua_, 1);
  return false;
}

/// Of the error object on the top of the stack. Nothing here may raise an error.
std::string LuaState::message() {
  switch (stop_) {
    case Stop::kInstructions:
      return "used up its " + std::to_string(limits_.instructions) + " instructions";
    case Stop::kMemory:
      return "used up its " + std::to_string(limits_.bytes) + " bytes of memory";
    case Stop::kString:
      return "made a string of more than " + std::to_string(kLongestString) + " bytes";
    case Stop::kNone:
      break;
  }
  if (lua_type(lua_, -1) == LUA_TSTRING) return lua_tostring(lua_, -1);
  return std::string("raised an error that is no text but a ") + luaL_typename(lua_, -1);
}

}  // namespace poolcast::routing
