// SPDX-License-Identifier: Apache-2.0
// Filters by the endpoints' labels, decided once when the pipeline is bound.
// Source: llm-d's by-label, label-selector-filter (a Kubernetes label selector) and the filters by role.
#include <algorithm>
#include <optional>
#include <utility>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

std::optional<std::string> label_of(const Labels& labels, const std::string& key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return value;
  }
  return std::nullopt;
}

/// One demand on the labels of an endpoint.
struct Demand {
  enum class Kind : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kInOrAbsent };
  std::string key;
  Kind kind = Kind::kIn;
  std::vector<std::string> values;

  bool met_by(const Labels& labels) const {
    const auto value = label_of(labels, key);
    const bool listed = value && std::find(values.begin(), values.end(), *value) != values.end();
    switch (kind) {
      case Kind::kIn:
        return listed;
      case Kind::kNotIn:
        return !listed;
      case Kind::kExists:
        return value.has_value();
      case Kind::kDoesNotExist:
        return !value.has_value();
      case Kind::kInOrAbsent:
        return listed || !value;
    }
    return false;
  }
};

class LabelFilter : public Plugin, public Filter {
 public:
  explicit LabelFilter(std::vector<Demand> demands) : demands_(std::move(demands)) {}

  void bind(const Endpoints& endpoints) override {
    keep_.assign(endpoints.size(), 0);
    const Labels none;
    for (std::size_t e = 0; e < endpoints.size(); ++e) {
      const Labels& labels = endpoints.labels.empty() ? none : endpoints.labels[e];
      keep_[e] = std::all_of(demands_.begin(), demands_.end(), [&](const Demand& d) { return d.met_by(labels); });
    }
  }

  void filter(const RequestView&, const Endpoints&, std::vector<std::uint32_t>& kept) override {
    std::erase_if(kept, [&](std::uint32_t e) { return keep_[e] == 0; });
  }

 private:
  std::vector<Demand> demands_;
  std::vector<std::uint8_t> keep_;  ///< by endpoint
};

std::vector<std::string> read_texts(const Value& list, const std::vector<std::string>& path) {
  std::vector<std::string> texts;
  expect_kind(list, Value::Kind::kList, path);
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    auto where = path;
    where.push_back(std::to_string(i));
    expect_kind(list.items[i], Value::Kind::kText, where);
    texts.push_back(list.items[i].text);
  }
  return texts;
}

std::unique_ptr<Plugin> make_by_label(const Settings& settings, const BuildContext&) {
  Demand demand;
  demand.key = settings.text("label");
  if (demand.key.empty()) throw ParameterFault({}, "needs a label");
  if (const Value& values = settings.raw("validValues"); values.kind != Value::Kind::kNull) {
    demand.values = read_texts(values, {"validValues"});
  }
  if (settings.boolean("allowsNoLabel")) {
    demand.kind = Demand::Kind::kInOrAbsent;
  } else if (demand.values.empty()) {
    throw ParameterFault({}, "needs validValues, or allowsNoLabel: true");
  }
  return std::make_unique<LabelFilter>(std::vector<Demand>{demand});
}

Demand read_expression(const Value& entry, const std::vector<std::string>& path) {
  static const std::vector<std::string> kOperators = {"In", "NotIn", "Exists", "DoesNotExist"};
  expect_kind(entry, Value::Kind::kMap, path);
  expect_keys(entry, {"key", "operator", "values"}, path);
  const Value* key = entry.find("key");
  const Value* op = entry.find("operator");
  if (key == nullptr || op == nullptr) throw ParameterFault(path, "needs a key and an operator");
  Demand demand;
  auto where = path;
  where.emplace_back("key");
  expect_kind(*key, Value::Kind::kText, where);
  demand.key = key->text;
  where.back() = "operator";
  expect_kind(*op, Value::Kind::kText, where);
  const auto place = std::find(kOperators.begin(), kOperators.end(), op->text);
  if (place == kOperators.end()) throw ParameterFault(where, "unknown operator \"" + op->text + "\"", kOperators);
  demand.kind = static_cast<Demand::Kind>(place - kOperators.begin());
  where.back() = "values";
  if (const Value* values = entry.find("values")) demand.values = read_texts(*values, where);
  const bool takes = demand.kind == Demand::Kind::kIn || demand.kind == Demand::Kind::kNotIn;
  if (takes == demand.values.empty()) {
    throw ParameterFault(path, takes ? op->text + " needs values" : op->text + " takes no values");
  }
  return demand;
}

std::unique_ptr<Plugin> make_selector(const Settings& settings, const BuildContext&) {
  std::vector<Demand> demands;
  if (const Value& map = settings.raw("matchLabels"); map.kind != Value::Kind::kNull) {
    expect_kind(map, Value::Kind::kMap, {"matchLabels"});
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
      expect_kind(map.items[i], Value::Kind::kText, {"matchLabels", map.keys[i]});
      demands.push_back({map.keys[i], Demand::Kind::kIn, {map.items[i].text}});
    }
  }
  if (const Value& list = settings.raw("matchExpressions"); list.kind != Value::Kind::kNull) {
    expect_kind(list, Value::Kind::kList, {"matchExpressions"});
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      demands.push_back(read_expression(list.items[i], {"matchExpressions", std::to_string(i)}));
    }
  }
  return std::make_unique<LabelFilter>(std::move(demands));
}

constexpr const char* kRole = "llm-d.ai/role";

std::unique_ptr<Plugin> make_role(Demand::Kind kind, std::vector<std::string> roles) {
  return std::make_unique<LabelFilter>(std::vector<Demand>{{kRole, kind, std::move(roles)}});
}
std::unique_ptr<Plugin> make_decode(const Settings&, const BuildContext&) {
  return make_role(Demand::Kind::kInOrAbsent, {"decode", "prefill-decode", "encode-prefill-decode", "both"});
}
std::unique_ptr<Plugin> make_prefill(const Settings&, const BuildContext&) {
  return make_role(Demand::Kind::kIn, {"prefill", "prefill-decode", "encode-prefill", "encode-prefill-decode", "both"});
}
std::unique_ptr<Plugin> make_encode(const Settings&, const BuildContext&) {
  return make_role(Demand::Kind::kIn, {"encode", "encode-prefill", "encode-prefill-decode"});
}

}  // namespace

void add_label_filters(std::vector<PluginInfo>& table) {
  constexpr auto kAny = ParameterKind::kAny;
  table.push_back({"by-label",
                   "filter",
                   "llm-d",
                   "keep endpoints whose label has one of the values",
                   {{"label", ParameterKind::kText, "", "", "the label that is read"},
                    {"validValues", kAny, "", "", "a list of values"},
                    {"allowsNoLabel", ParameterKind::kBoolean, "false", "", "also keep endpoints without the label"}},
                   make_by_label});
  table.push_back(
      {"label-selector-filter",
       "filter",
       "llm-d",
       "keep endpoints that a Kubernetes label selector matches",
       {{"matchLabels", kAny, "", "", "a mapping of labels to values"},
        {"matchExpressions", kAny, "", "", "a list of {key, operator: In|NotIn|Exists|DoesNotExist, values}"}},
       make_selector});
  table.push_back({"decode-filter",
                   "filter",
                   "llm-d",
                   "keep endpoints whose llm-d.ai/role includes decode, or is absent",
                   {},
                   make_decode});
  table.push_back(
      {"prefill-filter", "filter", "llm-d", "keep endpoints whose llm-d.ai/role includes prefill", {}, make_prefill});
  table.push_back(
      {"encode-filter", "filter", "llm-d", "keep endpoints whose llm-d.ai/role includes encode", {}, make_encode});
}

}  // namespace poolcast::routing
