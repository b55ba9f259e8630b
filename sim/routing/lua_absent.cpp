// SPDX-License-Identifier: Apache-2.0
// In a build without Lua the plugin types are known, with their parameters, and refuse to be made.
#include "sim/routing/lua_plugins.h"

namespace poolcast::routing {
namespace {

[[noreturn]] void refuse() {
  throw ParameterFault({}, "this build of poolcast has no Lua: liblua5.4-dev was missing when it was built");
}

}  // namespace

std::unique_ptr<Plugin> make_lua_filter(const Settings&, const BuildContext&) { refuse(); }
std::unique_ptr<Plugin> make_lua_scorer(const Settings&, const BuildContext&) { refuse(); }
std::unique_ptr<Plugin> make_lua_picker(const Settings&, const BuildContext&) { refuse(); }
bool lua_built_in() { return false; }

}  // namespace poolcast::routing
