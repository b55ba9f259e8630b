// SPDX-License-Identifier: Apache-2.0
// Plugins of routing pipelines: what recordings of the real ones do not hold (policy_check has those).
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>

#include "sim/routing/profile.h"
#include "sim/routing/registry.h"

using namespace poolcast;
using namespace poolcast::routing;

namespace {

constexpr auto number = number_value;
constexpr auto text = text_value;
constexpr auto boolean = boolean_value;
constexpr auto list = list_value;
constexpr auto map = map_value;

std::unique_ptr<Plugin> make(const char* type, const Value& parameters = {}, std::uint64_t seed = 3) {
  return make_plugin(*find_plugin(type), parameters, {.random = RandomStream(seed, type)});
}

/// Why the plugin refuses its parameters: "path: message".
std::string fault(const char* type, const Value& parameters) {
  try {
    make(type, parameters);
  } catch (const ParameterFault& fault) {
    std::string path;
    for (const std::string& key : fault.path) path += (path.empty() ? "" : ".") + key;
    return path + ": " + fault.what();
  }
  return "no fault";
}

Endpoints idle(std::size_t count) {
  Endpoints e;
  e.reset(count);
  return e;
}

std::vector<std::uint32_t> all(const Endpoints& e) {
  std::vector<std::uint32_t> indices(e.size());
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

std::vector<std::uint32_t> kept_by(const char* type, const Value& parameters, const Endpoints& endpoints) {
  const auto plugin = make(type, parameters);
  plugin->bind(endpoints);
  std::vector<std::uint32_t> kept = all(endpoints);
  dynamic_cast<Filter&>(*plugin).filter({}, endpoints, kept);
  return kept;
}

std::vector<double> scores_of(Plugin& plugin, const RequestView& request, const Endpoints& endpoints) {
  std::vector<double> scores(endpoints.size());
  dynamic_cast<Scorer&>(plugin).score(request, endpoints, all(endpoints), scores);
  return scores;
}

using Indices = std::vector<std::uint32_t>;

/// Five endpoints: a/decode, b/prefill, c/none, d/prefill-decode, e/encode.
Endpoints with_roles() {
  Endpoints e = idle(5);
  e.labels = {{{"zone", "a"}, {"llm-d.ai/role", "decode"}},
              {{"zone", "b"}, {"llm-d.ai/role", "prefill"}},
              {{"zone", "c"}},
              {{"llm-d.ai/role", "prefill-decode"}},
              {{"llm-d.ai/role", "encode"}}};
  return e;
}

}  // namespace

TEST_CASE(
    "the table of plugins is sorted, every type in it can be made with its defaults, and every default is allowed") {
  const auto& table = plugin_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i > 0) CHECK(table[i - 1].type < table[i].type);
    INFO(table[i].type);
    static const std::set<std::string_view> kNeedParameters = {
        "by-label", "expr-filter", "expr-scorer", "lua-filter", "lua-picker", "lua-scorer", "utilization-filter"};
    if (table[i].make != nullptr && kNeedParameters.count(table[i].type) == 0) {
      CHECK(make_plugin(table[i], {}, {.random = RandomStream(1, "x")}) != nullptr);
    }
    CHECK_NOTHROW(Settings(table[i].parameters, {}));
    CHECK_FALSE(table[i].rule.empty());
  }
  for (const MissingPlugin& missing : plugins_not_modelled()) CHECK(find_plugin(missing.type) == nullptr);
}

TEST_CASE("filters by role keep the endpoints whose role includes theirs, and decoding takes those without a role") {
  CHECK(kept_by("decode-filter", {}, with_roles()) == Indices{0, 2, 3});
  CHECK(kept_by("prefill-filter", {}, with_roles()) == Indices{1, 3});
  CHECK(kept_by("encode-filter", {}, with_roles()) == Indices{4});
  CHECK(kept_by("decode-filter", {}, idle(2)) == Indices{0, 1});
}

TEST_CASE("by-label keeps the values that are valid, and endpoints without the label only when told") {
  const Value values = list({text("a"), text("b")});
  CHECK(kept_by("by-label", map({{"label", text("zone")}, {"validValues", values}}), with_roles()) == Indices{0, 1});
  CHECK(kept_by("by-label", map({{"label", text("zone")}, {"validValues", values}, {"allowsNoLabel", boolean(true)}}),
                with_roles()) == Indices{0, 1, 3, 4});
  CHECK(fault("by-label", {}) == ": needs a label");
  CHECK(fault("by-label", map({{"label", text("zone")}})) == ": needs validValues, or allowsNoLabel: true");
}

TEST_CASE("label-selector-filter takes labels and expressions together") {
  const auto expression = [](const char* op, std::vector<Value> values) {
    auto entry = map({{"key", text("zone")}, {"operator", text(op)}});
    if (!values.empty()) {
      entry.keys.push_back("values");
      entry.items.push_back(list(std::move(values)));
    }
    return map({{"matchExpressions", list({entry})}});
  };
  const Endpoints e = with_roles();
  CHECK(kept_by("label-selector-filter", map({{"matchLabels", map({{"zone", text("b")}})}}), e) == Indices{1});
  CHECK(kept_by("label-selector-filter", expression("In", {text("a"), text("c")}), e) == Indices{0, 2});
  CHECK(kept_by("label-selector-filter", expression("NotIn", {text("a")}), e) == Indices{1, 2, 3, 4});
  CHECK(kept_by("label-selector-filter", expression("Exists", {}), e) == Indices{0, 1, 2});
  CHECK(kept_by("label-selector-filter", expression("DoesNotExist", {}), e) == Indices{3, 4});
  CHECK(kept_by("label-selector-filter", {}, e) == Indices{0, 1, 2, 3, 4});
  CHECK(fault("label-selector-filter", expression("Near", {text("a")})) ==
        "matchExpressions.0.operator: unknown operator \"Near\"");
  CHECK(fault("label-selector-filter", expression("In", {})) == "matchExpressions.0: In needs values");
  CHECK(fault("label-selector-filter", expression("Exists", {text("a")})) ==
        "matchExpressions.0: Exists takes no values");
}

TEST_CASE("a session is scored, or kept, where its last request went") {
  const auto scorer = make("session-affinity-scorer");
  const auto filter = make("session-affinity-filter");
  RequestView request;
  request.session = 7;
  CHECK(scores_of(*scorer, request, idle(3)) == std::vector<double>{0, 0, 0});
  for (Plugin* plugin : {scorer.get(), filter.get()}) plugin->decided(request, {2, {}});
  CHECK(scores_of(*scorer, request, idle(3)) == std::vector<double>{0, 0, 1});
  Indices kept{0, 1, 2};
  dynamic_cast<Filter&>(*filter).filter(request, idle(3), kept);
  CHECK(kept == Indices{2});
  kept = {0, 1};  // its endpoint is gone
  dynamic_cast<Filter&>(*filter).filter(request, idle(3), kept);
  CHECK(kept == Indices{0, 1});
  request.session = RequestView::kNoSession;
  CHECK(scores_of(*scorer, request, idle(3)) == std::vector<double>{0, 0, 0});
}

TEST_CASE("stale metrics saturate the detector, or not, by its policy") {
  Endpoints e = idle(2);
  e.metric_age_ms = {0, 300};
  e.waiting = {5, 1};
  const auto saturation = [&](const Value& parameters) {
    return dynamic_cast<Detector&>(*make("utilization-detector", parameters)).saturation(e, all(e));
  };
  CHECK(saturation({}) == 1.0);
  CHECK(saturation(map({{"stalenessPolicy", text("ignore")}})) == Approx(0.6));
  CHECK(saturation(map({{"metricsStalenessThreshold", text("300ms")}})) == Approx(0.6));
}

TEST_CASE("equal totals are picked alike: 1,000 picks over four endpoints spread by every picker") {
  for (const char* type : {"max-score-picker", "random-picker", "weighted-random-picker"}) {
    for (const double k : {1.0, 3.0}) {
      const auto plugin = make(type, map({{"maxNumOfEndpoints", number(k)}}), 17);
      std::array<int, 4> counts{};
      std::vector<std::uint32_t> picked;
      const std::vector<double> totals(4, 0.5);
      for (int i = 0; i < 1000; ++i) {
        dynamic_cast<Picker&>(*plugin).pick(Indices{0, 1, 2, 3}, totals, picked);
        REQUIRE(picked.size() == static_cast<std::size_t>(k));
        ++counts[picked[0]];
      }
      double chi_square = 0;
      for (const int c : counts) chi_square += (c - 250) * (c - 250) / 250.0;
      INFO(type << " " << counts[0] << "/" << counts[1] << "/" << counts[2] << "/" << counts[3]);
      CHECK(chi_square < 16.27);  // the 99.9 % point for three degrees of freedom
    }
  }
}

TEST_CASE("in a profile the order of the endpoints does not decide among keys that underflow") {
  const auto picker = make("weighted-random-picker");
  const auto scorer = make("load-aware-scorer");
  Profile profile(RandomStream(1, "order"));
  profile.add(*picker, 1);
  profile.add(*scorer, 1e-4);  // 0.5e-4 each: the power is 0 most of the time
  std::array<int, 4> counts{};
  const Endpoints e = idle(4);
  for (int i = 0; i < 1000; ++i) ++counts[profile.run({}, e, all(e))[0]];
  for (const int c : counts) CHECK(std::abs(c - 250) < 60);
}

TEST_CASE("totals do not depend on the order of the scorers, scale with their weights, and each score is clamped") {
  Endpoints e = idle(3);
  e.waiting = {0, 4, 8};
  e.kv_usage = {1.5, 0.25, -0.5};
  const auto queue = make("queue-scorer"), kv = make("kv-cache-utilization-scorer"), load = make("load-aware-scorer");
  const auto picker = make("max-score-picker");
  const auto totals = [&](std::vector<std::pair<Plugin*, double>> plugins) {
    Profile profile(RandomStream(1, "order"));
    for (const auto& [plugin, weight] : plugins) profile.add(*plugin, weight);
    profile.add(*picker, 1);
    profile.run({}, e, all(e));
    return std::vector<double>(profile.totals().begin(), profile.totals().end());
  };
  const auto base = totals({{queue.get(), 2}, {kv.get(), 1}, {load.get(), 4}});
  // queue 1, .5, 0; KV 0 (clamped), .75, 1 (clamped); load .5, .5 (1 - 4/128), .5 (1 - 8/128).
  CHECK(base == std::vector<double>{4, 1 + 0.75 + 1.9375, 1 + 1.875});
  CHECK(totals({{load.get(), 4}, {kv.get(), 1}, {queue.get(), 2}}) == base);
  CHECK(totals({{kv.get(), 1}, {load.get(), 4}, {queue.get(), 2}}) == base);
  const auto doubled = totals({{queue.get(), 4}, {kv.get(), 2}, {load.get(), 8}});
  for (std::size_t i = 0; i < 3; ++i) CHECK(doubled[i] == 2 * base[i]);
}

TEST_CASE("a profile takes one picker, and ends with nothing when its filters leave nothing") {
  Profile profile(RandomStream(1, "order"));
  const auto first = make("max-score-picker"), second = make("random-picker");
  CHECK(profile.add(*first, 1));
  CHECK_FALSE(profile.add(*second, 1));
  const auto filter = make("encode-filter");
  const Endpoints e = idle(2);
  filter->bind(e);
  profile.add(*filter, 1);
  CHECK(profile.run({}, e, all(e)).empty());
}

TEST_CASE("parameters are checked: names, kinds, ranges, words and durations") {
  CHECK(fault("load-aware-scorer", map({{"treshold", number(3)}})) == "treshold: unknown key");
  CHECK(fault("load-aware-scorer", map({{"threshold", text("3")}})) == "threshold: must be a number, got text");
  CHECK(fault("load-aware-scorer", map({{"threshold", number(2.5)}})) == "threshold: must be a whole number, got 2.5");
  CHECK(fault("slo-headroom-tier-filter", map({{"epsilonExploreNeg", number(-0.1)}})) ==
        "epsilonExploreNeg: must be in [0, 1], got -0.1");
  CHECK(fault("utilization-detector", map({{"kvCacheUtilThreshold", number(0)}})) ==
        "kvCacheUtilThreshold: must be in (0, 1], got 0");
  CHECK(fault("utilization-detector", map({{"metricsStalenessThreshold", text("200")}})) ==
        "metricsStalenessThreshold: must be a duration such as 200ms, got 200");
  CHECK(fault("latency-scorer", map({{"headroomSelectionStrategy", text("worst")}})) ==
        "headroomSelectionStrategy: must not be \"worst\"");
  CHECK(fault("utilization-filter", map({{"conditions", list({map({{"metric", text("waiting-queue")}})})}})) ==
        "conditions.0: needs a maxValue");
  CHECK(parse_duration_ms("1h2m3.5s4ms") == 3723504);
  CHECK(parse_duration_ms("100us") == Approx(0.1));
  for (const char* bad : {"", "s", "5", "5 s", "-1s", "1x"}) CHECK(parse_duration_ms(bad) < 0);
}
