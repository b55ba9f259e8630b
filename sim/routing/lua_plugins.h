// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/routing/registry.h"

namespace poolcast::routing {

// Makers of the plugins whose rule is a script; without Lua in the build they throw ParameterFault.
std::unique_ptr<Plugin> make_lua_filter(const Settings& settings, const BuildContext& context);
std::unique_ptr<Plugin> make_lua_scorer(const Settings& settings, const BuildContext& context);
std::unique_ptr<Plugin> make_lua_picker(const Settings& settings, const BuildContext& context);

/// Whether this build has Lua.
bool lua_built_in();

}  // namespace poolcast::routing
