// SPDX-License-Identifier: Apache-2.0
// Lua's own functions are taken one by one, never a library as a whole. Those that walk over their arguments pay for
// it.
#include "sim/routing/lua_sandbox.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "sim/portable_math.h"

namespace poolcast::routing {
namespace {

// ---------------------------------------------------------------- replaced functions

int to_string(lua_State* lua) {
  luaL_checkany(lua, 1);
  switch (lua_type(lua, 1)) {
    case LUA_TNUMBER:
      if (lua_tonumber(lua, 1) != lua_tonumber(lua, 1)) {  // C prints its sign, which means nothing
        lua_pushliteral(lua, "nan");
        return 1;
      }
      [[fallthrough]];
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TSTRING:
      luaL_tolstring(lua, 1, nullptr);
      return 1;
    default:
      return luaL_error(lua, "tostring: a %s has no text", luaL_typename(lua, 1));
  }
}

int portable_exp_of(lua_State* lua) {
  lua_pushnumber(lua, portable_exp(luaL_checknumber(lua, 1)));
  return 1;
}

double log_or_none(double x) { return x < 0 ? std::numeric_limits<double>::quiet_NaN() : portable_log(x); }

int portable_log_of(lua_State* lua) {
  const double x = log_or_none(luaL_checknumber(lua, 1));
  lua_pushnumber(lua, lua_isnoneornil(lua, 2) ? x : x / log_or_none(luaL_checknumber(lua, 2)));
  return 1;
}

/// Whole exponents up to 1024 by squaring, so that squares are exact products; others by logarithms.
int portable_power(lua_State* lua) {
  const double base = luaL_checknumber(lua, 1), exponent = luaL_checknumber(lua, 2);
  double result = 0;
  if (exponent >= -1024 && exponent <= 1024 && exponent == static_cast<double>(static_cast<int>(exponent))) {
    result = 1;
    double square = base;
    for (int left = std::abs(static_cast<int>(exponent)); left > 0; left /= 2, square *= square) {
      if (left % 2 == 1) result *= square;
    }
    if (exponent < 0) result = 1 / result;
  } else {
    result = base < 0 || base != base ? std::numeric_limits<double>::quiet_NaN() : portable_pow(base, exponent);
  }
  lua_pushnumber(lua, result);
  return 1;
}

/// random() in [0, 1); random(m) in 1..m; random(m, n) in m..n.
int random_number(lua_State* lua) {
  RandomStream& random = LuaState::of(lua).random();
  const int given = lua_gettop(lua);
  if (given == 0) {
    lua_pushnumber(lua, random.uniform());
    return 1;
  }
  const lua_Integer low = given == 1 ? 1 : luaL_checkinteger(lua, 1), high = luaL_checkinteger(lua, given == 1 ? 1 : 2);
  luaL_argcheck(lua, low <= high, given == 1 ? 1 : 2, "interval is empty");
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t draw = span == 0 ? random.next() : random.below(span);
  lua_pushinteger(lua, static_cast<lua_Integer>(static_cast<std::uint64_t>(low) + draw));
  return 1;
}

// ---------------------------------------------------------------- keys in order

struct Key {
  bool text, whole;
  lua_Integer integer;
  double number;
  const char* bytes;  ///< the key itself keeps them alive
  std::size_t size;
};

bool before(const Key& a, const Key& b) {
  if (a.text != b.text) return b.text;
  if (a.text) {
    const int order = std::memcmp(a.bytes, b.bytes, std::min(a.size, b.size));
    return order != 0 ? order < 0 : a.size < b.size;
  }
  return a.whole && b.whole ? a.integer < b.integer : a.number < b.number;
}

/// Told at the place of who called `sorted`, which is written in Lua.
void fail_sorted(lua_State* lua, const char* format, const char* type) {
  luaL_where(lua, 2);
  lua_pushliteral(lua, "sorted: ");
  lua_pushfstring(lua, format, type);
  lua_concat(lua, 3);
  lua_error(lua);
}

Key read_key(lua_State* lua) {
  Key key{};
  if (lua_type(lua, -1) == LUA_TSTRING) {
    key.text = true;
    key.bytes = lua_tolstring(lua, -1, &key.size);
  } else if (lua_type(lua, -1) == LUA_TNUMBER) {
    key.whole = lua_isinteger(lua, -1) != 0;
    key.integer = key.whole ? lua_tointeger(lua, -1) : 0;
    key.number = lua_tonumber(lua, -1);
  } else {
    fail_sorted(lua, "a key is a %s, not a number or text", luaL_typename(lua, -1));
  }
  return key;
}

/// The keys of a table, in order, as a list. The order of Lua's own iteration differs from run to run, so what this
/// costs must not depend on it either.
int ordered_keys(lua_State* lua) {
  if (!lua_istable(lua, 1)) fail_sorted(lua, "needs a table, got a %s", luaL_typename(lua, 1));
  lua_settop(lua, 1);
  std::size_t count = 0;
  for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_pop(lua, 1)) ++count;
  LuaState::of(lua).charge(static_cast<std::int64_t>(16 * count));
  auto* keys = static_cast<Key*>(lua_newuserdatauv(lua, std::max<std::size_t>(1, count) * sizeof(Key), 0));
  std::size_t i = 0;
  for (lua_pushnil(lua); lua_next(lua, 1) != 0;) {
    lua_pop(lua, 1);
    keys[i++] = read_key(lua);
  }
  std::sort(keys, keys + count, before);
  lua_createtable(lua, static_cast<int>(count), 0);
  for (i = 0; i < count; ++i) {
    if (keys[i].text) {
      lua_pushlstring(lua, keys[i].bytes, keys[i].size);
    } else if (keys[i].whole) {
      lua_pushinteger(lua, keys[i].integer);
    } else {
      lua_pushnumber(lua, keys[i].number);
    }
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i + 1));
  }
  return 1;
}

/// Lua's own function (the upvalue), paid for by the length of the first argument.
int paid_by_length(lua_State* lua) {
  LuaState::of(lua).charge(static_cast<std::int64_t>(lua_rawlen(lua, 1)));
  return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

// ---------------------------------------------------------------- library

/// What loops over a table is Lua itself, so that the budget sees every step. Lua's own sort looks at the clock.
constexpr const char* kLibrary = R"(
local keys_of, select, type, error, tointeger = ...
local function sort(list, before)
  before = before or function(a, b) return a < b end
  local from, to, n, width = list, {}, #list, 1
  while width < n do
    local left = 1
    while left <= n do
      local i, middle, last = left, left + width, left + 2 * width
      if middle > n + 1 then middle = n + 1 end
      if last > n + 1 then last = n + 1 end
      local j = middle
      for k = left, last - 1 do
        if i < middle and (j >= last or not before(from[j], from[i])) then
          to[k], i = from[i], i + 1
        else
          to[k], j = from[j], j + 1
        end
      end
      left = last
    end
    from, to, width = to, from, 2 * width
  end
  if from ~= list then
    for i = 1, n do list[i] = from[i] end
  end
end
local function place(at, last)
  at = tointeger(at)
  if not at or at < 1 or at > last then error("position out of bounds", 3) end
  return at
end
local function insert(list, ...)
  local n = #list
  if select("#", ...) == 1 then
    list[n + 1] = (...)
  else
    local at, value = ...
    at = place(at, n + 1)
    for i = n, at, -1 do list[i + 1] = list[i] end
    list[at] = value
  end
end
local function remove(list, at)
  local n = #list
  if n == 0 then return nil end
  at = at == nil and n or place(at, n)
  local value = list[at]
  for i = at, n - 1 do list[i] = list[i + 1] end
  list[n] = nil
  return value
end
local function sorted(t)
  local keys, i = keys_of(t), 0
  return function()
    i = i + 1
    local key = keys[i]
    if key ~= nil then return key, t[key] end
  end
end
return sort, insert, remove, sorted
)";

/// Moves fields of the table at `from` to a new table, which it leaves on the stack.
void take(lua_State* lua, int from, std::initializer_list<const char*> names) {
  lua_newtable(lua);
  for (const char* name : names) {
    lua_getfield(lua, from, name);
    lua_setfield(lua, -2, name);
  }
}

void set_function(lua_State* lua, const char* name, lua_CFunction function) {
  lua_pushcfunction(lua, function);
  lua_setfield(lua, -2, name);
}

/// The field of the table on the top, wrapped.
void pay(lua_State* lua, const char* name) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, paid_by_length, 1);
  lua_setfield(lua, -2, name);
}

/// Leaves sort, insert, remove and sorted on the stack.
void run_library(lua_State* lua, int base) {
  if (luaL_loadbufferx(lua, kLibrary, std::strlen(kLibrary), "=library", "t") != LUA_OK) lua_error(lua);
  lua_pushcfunction(lua, ordered_keys);
  lua_getfield(lua, base, "select");
  lua_getfield(lua, base, "type");
  lua_getfield(lua, base, "error");
  lua_getfield(lua, base, "math");
  lua_getfield(lua, -1, "tointeger");
  lua_remove(lua, -2);
  lua_call(lua, 5, 4);
}

}  // namespace

void open_sandbox(lua_State* lua) {
  lua_settop(lua, 0);
  luaL_requiref(lua, "_G", luaopen_base, 1);
  const int base = 1;
  luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 1);
  luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 1);
  const int math = 2, table = 3;
  run_library(lua, base);
  const int sort = 4, insert = 5, remove = 6, sorted = 7;

  take(lua, base, {"assert", "error", "ipairs", "select", "tonumber", "type"});
  const int globals = 8;
  set_function(lua, "tostring", to_string);
  pay(lua, "tonumber");
  lua_pushvalue(lua, sorted);
  lua_setfield(lua, globals, "sorted");
  lua_pushvalue(lua, globals);
  lua_setfield(lua, globals, "_G");

  take(lua, math,
       {"abs", "ceil", "floor", "fmod", "huge", "max", "maxinteger", "min", "mininteger", "modf", "pi", "sqrt",
        "tointeger", "type", "ult"});
  set_function(lua, "exp", portable_exp_of);
  set_function(lua, "log", portable_log_of);
  set_function(lua, "pow", portable_power);
  set_function(lua, "random", random_number);
  lua_setfield(lua, globals, "math");

  take(lua, table, {"concat", "pack", "unpack"});
  pay(lua, "concat");
  pay(lua, "unpack");
  lua_pushvalue(lua, sort);
  lua_setfield(lua, -2, "sort");
  lua_pushvalue(lua, insert);
  lua_setfield(lua, -2, "insert");
  lua_pushvalue(lua, remove);
  lua_setfield(lua, -2, "remove");
  lua_setfield(lua, globals, "table");

  lua_pushvalue(lua, globals);
  lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_settop(lua, 0);
}

// ---------------------------------------------------------------- text of scripts

namespace {

/// The end of a long bracket [[…]] or [==[…]==] that begins at `at`, or nothing when none does.
std::optional<std::size_t> after_long_bracket(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '[') return std::nullopt;
  std::size_t level = at + 1;
  while (level < text.size() && text[level] == '=') ++level;
  if (level >= text.size() || text[level] != '[') return std::nullopt;
  const std::string closing = "]" + std::string(level - at - 1, '=') + "]";
  const std::size_t end = text.find(closing, level + 1);
  return end == std::string_view::npos ? text.size() : end + closing.size();
}

std::size_t after_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(text.size(), at + 1);
}

std::size_t after_comment(std::string_view text, std::size_t at) {
  if (const auto end = after_long_bracket(text, at + 2)) return *end;
  return std::min(text.size(), text.find('\n', at));
}

}  // namespace

std::optional<std::string> script_objection(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (const auto end = after_long_bracket(text, i)) {
      i = *end;
    } else if (text[i] == '"' || text[i] == '\'') {
      i = after_quoted(text, i);
    } else if (text.substr(i, 2) == "--") {
      i = after_comment(text, i);
    } else if (text[i] == '^') {
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n');
      return "script:" + std::to_string(line) +
             ": the operator ^ is left out: write x * x, or math.pow(x, y), which is the same on every machine";
    } else {
      ++i;
    }
  }
  return std::nullopt;
}

}  // namespace poolcast::routing
