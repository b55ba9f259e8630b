// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/routing/lua_state.h"

namespace poolcast::routing {

/// Gives the state the globals that a script may use, and nothing else:
///
///   assert error ipairs select sorted tonumber tostring type _G
///   math: abs ceil exp floor fmod huge log max maxinteger min mininteger modf pi pow random sqrt tointeger type ult
///   table: concat insert pack remove sort unpack
///
/// `sorted(t)` walks over a table by its keys: numbers first, then texts, each in order. `table.sort` is stable.
/// `math.random` draws from the plugin's own stream; `exp`, `log` and `pow` have the same bits on every machine;
/// `tostring` refuses what it could only describe by an address.
/// Raises a Lua error when memory does not suffice, so it is for LuaState::prepare.
void open_sandbox(lua_State* lua);

/// What is wrong with the text of a script before it is compiled, or nothing. The operator ^ is refused: the C library
/// behind it rounds differently from machine to machine.
std::optional<std::string> script_objection(std::string_view text);

}  // namespace poolcast::routing
