// SPDX-License-Identifier: Apache-2.0
// Rule: keep the endpoints within every limit. Source: llm-d's utilization-filter.
#include <algorithm>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

enum class Measure : std::uint8_t { kActive, kRunning, kWaiting, kKvUsage };

const std::vector<std::string>& measure_names() {
  static const std::vector<std::string> kNames = {"active-requests", "running-requests", "waiting-queue",
                                                  "kv-cache-utilization"};
  return kNames;
}

class UtilizationFilter : public Plugin, public Filter {
 public:
  explicit UtilizationFilter(const Settings& settings) : fall_back_(settings.boolean("fallbackOnEmpty")) {
    const Value& list = settings.raw("conditions");
    if (list.kind != Value::Kind::kNull) expect_kind(list, Value::Kind::kList, {"conditions"});
    if (list.items.empty()) throw ParameterFault({}, "needs at least one entry in conditions");
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      conditions_.push_back(read(list.items[i], {"conditions", std::to_string(i)}));
    }
  }

  void filter(const RequestView&, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    if (fall_back_) before_ = kept;
    std::erase_if(kept, [&](std::uint32_t e) {
      return std::any_of(conditions_.begin(), conditions_.end(),
                         [&](const Condition& c) { return value(c.measure, endpoints, e) > c.max; });
    });
    if (fall_back_ && kept.empty()) kept = before_;
  }

 private:
  struct Condition {
    Measure measure;
    double max;
  };

  static Condition read(const Value& entry, std::vector<std::string> path) {
    expect_kind(entry, Value::Kind::kMap, path);
    expect_keys(entry, {"metric", "maxValue"}, path);
    const Value* metric = entry.find("metric");
    const Value* max = entry.find("maxValue");
    const auto& names = measure_names();
    if (metric == nullptr) throw ParameterFault(path, "needs a metric", names);
    path.push_back("metric");
    expect_kind(*metric, Value::Kind::kText, path);
    const auto place = std::find(names.begin(), names.end(), metric->text);
    if (place == names.end()) throw ParameterFault(path, "unknown metric \"" + metric->text + "\"", names);
    path.pop_back();
    if (max == nullptr || max->kind == Value::Kind::kNull) throw ParameterFault(path, "needs a maxValue");
    path.push_back("maxValue");
    expect_kind(*max, Value::Kind::kNumber, path);
    const auto measure = static_cast<Measure>(place - names.begin());
    if (max->number < 0) throw ParameterFault(path, "must not be negative, got " + shortest(max->number));
    if (measure == Measure::kKvUsage && max->number > 1) {
      throw ParameterFault(path, "is a share and must be at most 1, got " + shortest(max->number));
    }
    return {measure, max->number};
  }

  static double value(Measure measure, const Endpoints& endpoints, std::uint32_t e) {
    switch (measure) {
      case Measure::kActive:
        return static_cast<double>(endpoints.in_flight_requests[e]);
      case Measure::kRunning:
        return static_cast<double>(endpoints.running[e]);
      case Measure::kWaiting:
        return static_cast<double>(endpoints.waiting[e]);
      case Measure::kKvUsage:
        return endpoints.kv_usage[e];
    }
    return 0;
  }

  bool fall_back_;
  std::vector<Condition> conditions_;
  std::vector<std::uint32_t> before_;  ///< scratch
};

}  // namespace

void add_utilization_filter(std::vector<PluginInfo>& table) {
  table.push_back(
      {"utilization-filter",
       "filter",
       "llm-d",
       "keep endpoints of which every metric is at most its maxValue",
       {{"conditions", ParameterKind::kAny, "", "",
         "a list of {metric: active-requests|running-requests|waiting-queue|kv-cache-utilization, maxValue: number}"},
        {"fallbackOnEmpty", ParameterKind::kBoolean, "false", "", "keep all when none would be left"}},
       make_of_settings<UtilizationFilter>});
}

}  // namespace poolcast::routing
