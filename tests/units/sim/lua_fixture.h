// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/lua_plugins.h"

/// Scripts as plugins, and what they score, for tests.
namespace poolcast::testing {
using namespace routing;

inline constexpr auto text = text_value;
inline constexpr auto number = number_value;

inline Value scripted(const std::string& script, std::vector<std::pair<std::string, Value>> more = {}) {
  more.emplace(more.begin(), "script", text(script));
  return map_value(std::move(more));
}

inline std::unique_ptr<Plugin> make(const char* type, const Value& parameters, std::uint64_t seed = 3) {
  return make_plugin(*find_plugin(type), parameters, {.random = RandomStream(seed, type)});
}

inline std::string refusal(const char* type, const Value& parameters) {
  try {
    make(type, parameters);
  } catch (const ParameterFault& fault) {
    return (fault.path.empty() ? "" : fault.path.front() + ": ") + fault.what();
  }
  return "none";
}

struct Scored {
  std::vector<double> scores;
  ScriptFaults faults;
};

/// Four endpoints with 0, 1, 2 and 3 waiting requests.
inline Endpoints four() {
  Endpoints e;
  e.reset(4);
  e.waiting = {0, 1, 2, 3};
  e.kv_usage = {0.5, 0.25, 0.125, 0};
  return e;
}

inline std::vector<std::uint32_t> all(const Endpoints& e) {
  std::vector<std::uint32_t> indices(e.size());
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

inline Scored scores_of(Plugin& plugin, const Endpoints& e, const RequestView& request = {}) {
  Scored out;
  out.scores.assign(e.size(), -1);
  dynamic_cast<Scorer&>(plugin).score(request, e, all(e), out.scores);
  out.faults = *plugin.faults();
  return out;
}

inline Scored scored(const std::string& script, std::vector<std::pair<std::string, Value>> more = {}) {
  const auto plugin = make("lua-scorer", scripted(script, std::move(more)));
  return scores_of(*plugin, four());
}

/// What a script's function computes, as text that its error brings out.
inline std::string said(const std::string& body) {
  return scored("function score(request, endpoint, pool) " + body + " end").faults.first;
}

using Scores = std::vector<double>;

}  // namespace poolcast::testing
