// SPDX-License-Identifier: Apache-2.0
// The plugins that ask a script. A value that is of no use, such as NaN, is an error like any other: it is counted, and
// the endpoint scores 0, is filtered out or kept (on_error), or the fallback picks.
#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/routing/lua_plugins.h"
#include "sim/routing/lua_script.h"

namespace poolcast::routing {
namespace {

std::optional<double> as_score(LuaScript& script) {
  if (lua_type(script.lua(), -1) != LUA_TNUMBER) {
    script.fail(std::string("a score is ") + luaL_typename(script.lua(), -1) + ", not a number");
    return std::nullopt;
  }
  const double score = lua_tonumber(script.lua(), -1);
  if (!std::isnan(score)) return score;
  script.fail("a score is nan");
  return std::nullopt;
}

std::optional<double> as_choice(LuaScript& script) {
  if (lua_isboolean(script.lua(), -1)) return lua_toboolean(script.lua(), -1);
  script.fail(std::string("a filter says ") + luaL_typename(script.lua(), -1) + ", not true or false");
  return std::nullopt;
}

/// The list on the top of the stack, one value for each candidate.
void read_list(LuaScript& script, std::optional<double> (*as)(LuaScript&), std::span<std::optional<double>> values) {
  lua_State* const lua = script.lua();
  if (lua_type(lua, -1) != LUA_TTABLE || lua_rawlen(lua, -1) != values.size()) {
    return script.fail("must return a list with one value for each of the " + std::to_string(values.size()) +
                       " endpoints");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    lua_rawgeti(lua, -1, static_cast<lua_Integer>(i + 1));
    values[i] = as(script);
    lua_pop(lua, 1);
  }
}

/// Asks for every candidate. Where there is no answer there is no value.
void ask(LuaScript& script, std::optional<double> (*as)(LuaScript&), std::span<std::optional<double>> values) {
  std::fill(values.begin(), values.end(), std::nullopt);
  if (!script.for_one()) {
    if (!script.call_all()) return;
    read_list(script, as, values);
    return lua_pop(script.lua(), 1);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!script.call_one(i)) continue;
    values[i] = as(script);
    lua_pop(script.lua(), 1);
  }
}

class LuaScorer : public Plugin, public Scorer {
 public:
  LuaScorer(const Settings& settings, const BuildContext& context)
      : script_(settings, context.random, "score", "score_all") {}

  void score(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    std::fill(scores.begin(), scores.end(), 0.0);
    if (!script_.show(request, endpoints, candidates)) return;
    values_.resize(candidates.size());
    ask(script_, as_score, values_);
    for (std::size_t i = 0; i < values_.size(); ++i) scores[i] = values_[i].value_or(0);
  }
  const ScriptFaults* faults() const override { return &script_.faults(); }

 private:
  LuaScript script_;
  std::vector<std::optional<double>> values_;
};

class LuaFilter : public Plugin, public Filter {
 public:
  LuaFilter(const Settings& settings, const BuildContext& context)
      : script_(settings, context.random, "keep", "keep_all"), otherwise_(settings.text("on_error") == "keep") {}

  void filter(const RequestView& request, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    values_.assign(kept.size(), std::nullopt);
    if (script_.show(request, endpoints, kept)) ask(script_, as_choice, values_);
    std::size_t left = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (values_[i].value_or(otherwise_) != 0) kept[left++] = kept[i];
    }
    kept.resize(left);
  }
  const ScriptFaults* faults() const override { return &script_.faults(); }

 private:
  LuaScript script_;
  double otherwise_;
  std::vector<std::optional<double>> values_;
};

class LuaPicker : public Plugin, public Picker {
 public:
  LuaPicker(const Settings& settings, const BuildContext& context)
      : script_(settings, context.random, nullptr, "pick"), fallback_(make_fallback(settings, context)) {}

  void look(const RequestView& request, const Endpoints& endpoints) override {
    request_ = &request;
    endpoints_ = &endpoints;
  }

  void pick(std::span<const std::uint32_t> candidates, std::span<const double> scores,
            std::vector<std::uint32_t>& picked) override {
    std::optional<std::size_t> place;
    if (script_.show(*request_, *endpoints_, candidates, scores) && script_.call_all()) {
      place = read_place(candidates.size());
      lua_pop(script_.lua(), 1);
    }
    if (!place) return dynamic_cast<Picker&>(*fallback_).pick(candidates, scores, picked);
    picked.assign(1, candidates[*place]);
  }
  bool takes_order() const override { return dynamic_cast<const Picker&>(*fallback_).takes_order(); }
  const ScriptFaults* faults() const override { return &script_.faults(); }

 private:
  /// With a stream of its own, so that the script's draws stay apart.
  static std::unique_ptr<Plugin> make_fallback(const Settings& settings, const BuildContext& context) {
    BuildContext own = context;
    own.random = RandomStream(own.random.next(), "fallback");
    return make_plugin(*find_plugin(settings.text("fallback")), {}, own);
  }

  /// Nothing for nil, and for what is neither a place nor one of the endpoints.
  std::optional<std::size_t> read_place(std::size_t count) {
    lua_State* const lua = script_.lua();
    if (lua_isnil(lua, -1)) return std::nullopt;
    int whole = 0;
    const lua_Integer number = lua_type(lua, -1) == LUA_TNUMBER ? lua_tointegerx(lua, -1, &whole) : 0;
    if (whole != 0 && number >= 1 && number <= static_cast<lua_Integer>(count)) {
      return static_cast<std::size_t>(number - 1);
    }
    for (std::size_t i = 0; lua_istable(lua, -1) && i < count; ++i) {
      script_.signals().push_endpoint(i);
      const bool same = lua_rawequal(lua, -1, -2) != 0;
      lua_pop(lua, 1);
      if (same) return i;
    }
    script_.fail("pick must return an endpoint, its place in the list, or nil");
    return std::nullopt;
  }

  LuaScript script_;
  std::unique_ptr<Plugin> fallback_;
  const RequestView* request_ = nullptr;
  const Endpoints* endpoints_ = nullptr;
};

}  // namespace

std::unique_ptr<Plugin> make_lua_filter(const Settings& settings, const BuildContext& context) {
  return std::make_unique<LuaFilter>(settings, context);
}
std::unique_ptr<Plugin> make_lua_scorer(const Settings& settings, const BuildContext& context) {
  return std::make_unique<LuaScorer>(settings, context);
}
std::unique_ptr<Plugin> make_lua_picker(const Settings& settings, const BuildContext& context) {
  return std::make_unique<LuaPicker>(settings, context);
}
bool lua_built_in() { return true; }

}  // namespace poolcast::routing
