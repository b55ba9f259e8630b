// SPDX-License-Identifier: Apache-2.0
#include "tests/policies/check_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sim/routing/profile.h"
#include "sim/routing/registry.h"
#include "tests/policies/policy_case.h"

using nlohmann::json;
using namespace poolcast::routing;

namespace poolcast::policies {
namespace {

struct Difference {
  std::string what;
};

void expect(const char* what, const json& expected, const json& got) {
  if (expected != got) throw Difference{fmt::format("{}: expected {} got {}", what, expected.dump(), got.dump())};
}

std::unique_ptr<Plugin> build(const std::string& type, const json& parameters) {
  const PluginInfo* info = find_plugin(type);
  if (info == nullptr || info->make == nullptr) throw Difference{"there is no plugin " + type};
  return make_plugin(*info, to_value(parameters), {.random = RandomStream(1, type)});
}

json names_of(const PolicyCase& c, std::span<const std::uint32_t> endpoints) {
  json list = json::array();
  for (const std::uint32_t e : endpoints) list.push_back(c.names[e]);
  return list;
}

/// How often each thing came up, recorded and here. Each count is compared by itself: two binomial counts of as many
/// draws, within five standard deviations of their difference (a chance of 6e-7); where neither varies they are equal.
void expect_counts(const char* what, const json& recorded, const std::map<std::string, double>& ours, double draws) {
  std::set<std::string> keys;
  for (const auto& item : recorded.items()) keys.insert(item.key());
  for (const auto& [key, count] : ours) keys.insert(key);
  for (const std::string& key : keys) {
    const double a = recorded.value(key, 0.0);
    const auto place = ours.find(key);
    const double b = place == ours.end() ? 0 : place->second;
    const double variance = a * (1 - a / draws) + b * (1 - b / draws);
    if (std::fabs(a - b) <= 5 * std::sqrt(variance)) continue;
    throw Difference{fmt::format("{} of {}: expected {} got {} of {} draws", what, key, a, b, draws)};
  }
}

/// Draws as often as the recording did: `draw` returns the endpoints of one draw, the first one first.
void expect_draws(const PolicyCase& c, const json& document, const std::function<std::vector<std::uint32_t>()>& draw) {
  std::map<std::string, double> first, included, sets;
  const std::int64_t trials = document.at("trials");
  for (std::int64_t i = 0; i < trials; ++i) {
    const std::vector<std::uint32_t> drawn = draw();
    if (!drawn.empty()) ++first[c.names[drawn[0]]];
    for (const std::uint32_t e : drawn) ++included[c.names[e]];
    if (document.contains("kept_set_counts")) ++sets[names_of(c, drawn).dump()];
  }
  const auto draws = static_cast<double>(trials);
  if (document.contains("first_pick_counts")) expect_counts("first picks", document["first_pick_counts"], first, draws);
  if (document.contains("included_counts")) expect_counts("picks", document["included_counts"], included, draws);
  if (document.contains("kept_set_counts")) expect_counts("kept", document["kept_set_counts"], sets, draws);
}

/// Earlier requests, which had a hit or not.
void replay_history(PolicyCase& c, const json& history, Plugin& plugin, Scorer& scorer) {
  for (const json& earlier : history) {
    Endpoints then = c.endpoints;
    for (PrefixMatch& match : then.prefix) match = {earlier.at("cold") ? 0 : 1, 10, 16};
    std::vector<double> scores(c.all.size());
    scorer.score(c.request, then, c.all, scores);
    Decision decision;
    decision.endpoint = c.index_of(earlier.at("pick"));
    if (earlier.contains("prefill")) decision.prefill = c.index_of(earlier.at("prefill"));
    plugin.decided(c.request, decision);
  }
}

void check_scorer(PolicyCase& c, const json& document, Plugin& plugin, Scorer& scorer) {
  if (document.contains("history")) replay_history(c, document["history"], plugin, scorer);
  std::vector<double> scores(c.all.size());
  scorer.score(c.request, c.endpoints, c.all, scores);
  if (document.contains("scores")) expect("scores", document["scores"], scores);
}

void check_filter(const PolicyCase& c, const json& document, Filter& filter) {
  const auto filtered = [&] {
    std::vector<std::uint32_t> kept = c.all;
    filter.filter(c.request, c.endpoints, kept);
    return kept;
  };
  if (document.contains("trials")) {
    expect_draws(c, document, filtered);
  } else if (document.contains("kept")) {
    expect("kept", document["kept"], names_of(c, filtered()));
  }
}

void check_picker(const PolicyCase& c, const json& document, Picker& picker) {
  expect_draws(c, document, [&] {
    std::vector<std::uint32_t> picked;
    if (!c.all.empty()) picker.pick(c.all, c.input_scores, picked);
    return picked;
  });
}

void check_plugin(PolicyCase& c, const json& document) {
  const auto plugin = build(c.plugin, document.at("parameters"));
  plugin->bind(c.endpoints);
  if (auto* filter = dynamic_cast<Filter*>(plugin.get())) check_filter(c, document, *filter);
  if (auto* scorer = dynamic_cast<Scorer*>(plugin.get())) check_scorer(c, document, *plugin, *scorer);
  if (auto* picker = dynamic_cast<Picker*>(plugin.get())) check_picker(c, document, *picker);
  if (auto* detector = dynamic_cast<Detector*>(plugin.get())) {
    expect("saturation", document.at("saturation"), detector->saturation(c.endpoints, c.all));
  }
}

/// The totals by endpoint, null for those that were filtered out, and which of them are highest.
void expect_totals(const PolicyCase& c, const json& document, const Profile& profile,
                   std::span<const std::uint32_t> picked) {
  json totals(c.all.size(), nullptr);
  double best = -INFINITY;
  for (std::size_t i = 0; i < profile.kept().size(); ++i) {
    totals[profile.kept()[i]] = profile.totals()[i];
    best = std::max(best, profile.totals()[i]);
  }
  expect("scores", document.at("scores"), totals);
  if (!document.contains("targets")) return;
  std::set<std::string> highest;
  for (const std::uint32_t e : c.all) {
    if (!totals[e].is_null() && totals[e] == best) highest.insert(c.names[e]);
  }
  const std::set<std::string> targets(document["targets"].begin(), document["targets"].end());
  expect("targets", targets, highest);
  if (targets.count(c.names[picked[0]]) == 0) throw Difference{"picked " + c.names[picked[0]]};
}

void check_profile(const PolicyCase& c, const json& document) {
  std::vector<std::unique_ptr<Plugin>> plugins;
  Profile profile(RandomStream(1, "profile"));
  for (const json& entry : document.at("plugins")) {
    plugins.push_back(build(entry.at("type"), entry.value("parameters", json::object())));
    plugins.back()->bind(c.endpoints);
    if (!profile.add(*plugins.back(), entry.value("weight", 1.0))) throw ParameterFault({}, "two pickers");
  }
  if (!profile.has_picker()) throw ParameterFault({}, "no picker");
  const auto picked = profile.run(c.request, c.endpoints, c.all);
  if (picked.empty()) throw RoutingError("no endpoint is left");
  if (document.contains("kept")) {
    std::vector<std::uint32_t> kept(profile.kept().begin(), profile.kept().end());
    expect("kept", document["kept"], names_of(c, kept));
  }
  if (document.contains("trials")) {
    expect_draws(c, document, [&] {
      const auto drawn = profile.run(c.request, c.endpoints, c.all);
      return std::vector<std::uint32_t>(drawn.begin(), drawn.end());
    });
  } else {
    expect_totals(c, document, profile, picked);
  }
}

void check_expecting(const json& document) {
  PolicyCase c(document);
  const bool fails = document.contains("run_error") || document.contains("panic");
  try {
    if (document.contains("plugins")) {
      check_profile(c, document);
    } else {
      check_plugin(c, document);
    }
  } catch (const ParameterFault& fault) {
    if (document.contains("factory_error")) return;
    throw Difference{fmt::format("parameters refused: {}", fault.what())};
  } catch (const RoutingError& error) {
    if (fails) return;
    throw Difference{error.what()};
  }
  if (document.contains("factory_error")) throw Difference{"expected an error of the parameters, got none"};
  if (fails) throw Difference{"expected an error of the run, got none"};
}

}  // namespace

std::string check_case(const json& document) {
  try {
    check_expecting(document);
  } catch (const Difference& difference) {
    return difference.what;
  } catch (const json::exception& error) {
    return fmt::format("no recorded case: {}", error.what());
  }
  return {};
}

}  // namespace poolcast::policies
