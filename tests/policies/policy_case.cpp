// SPDX-License-Identifier: Apache-2.0
#include "tests/policies/policy_case.h"

#include <algorithm>
#include <stdexcept>

using nlohmann::json;

namespace poolcast::policies {

routing::Value to_value(const json& document) {
  using Kind = routing::Value::Kind;
  routing::Value value;
  if (document.is_boolean()) {
    value.kind = Kind::kBoolean;
    value.boolean = document;
  } else if (document.is_number()) {
    value.kind = Kind::kNumber;
    value.number = document;
  } else if (document.is_string()) {
    value.kind = Kind::kText;
    value.text = document;
  } else if (document.is_array()) {
    value.kind = Kind::kList;
    for (const json& item : document) value.items.push_back(to_value(item));
  } else if (document.is_object()) {
    value.kind = Kind::kMap;
    for (const auto& [key, item] : document.items()) {
      value.keys.push_back(key);
      value.items.push_back(to_value(item));
    }
  }
  return value;
}

PolicyCase::PolicyCase(const json& document) : plugin(document.at("plugin")), name(document.at("case")) {
  const json& entries = document.at("endpoints");
  endpoints.reset(entries.size());
  endpoints.no_metrics.assign(entries.size(), 0);
  endpoints.latency.resize(entries.size());
  endpoints.adapters.resize(entries.size());
  endpoints.labels.resize(entries.size());
  input_scores.assign(entries.size(), 0);
  const json& asked = document.at("request");
  request.prompt_tokens = asked.at("prompt_tokens");
  request.model = model_of(asked.at("target_model"));
  for (std::size_t e = 0; e < entries.size(); ++e) {
    all.push_back(static_cast<std::uint32_t>(e));
    names.push_back(entries[e].at("name"));
    read_endpoint(entries[e], e);
  }
}

void PolicyCase::read_endpoint(const json& entry, std::size_t e) {
  if (entry.at("metrics").is_null()) {
    endpoints.no_metrics[e] = 1;
    endpoints.metric_age_ms[e] = routing::kNeverScraped;
  } else {
    read_metrics(entry.at("metrics"), e);
  }
  if (entry.contains("prefix_match")) {
    const json& p = entry.at("prefix_match");
    endpoints.prefix[e] = {p.at("match_blocks"), p.at("total_blocks"), p.at("block_size_tokens")};
  }
  if (entry.contains("in_flight")) {
    endpoints.in_flight_requests[e] = entry.at("in_flight").at("requests");
    endpoints.in_flight_tokens[e] = entry.at("in_flight").at("tokens");
  }
  endpoints.uncached_tokens[e] = entry.value("uncached_request_tokens", std::int64_t{0});
  if (entry.contains("latency_prediction")) {
    const json& p = entry.at("latency_prediction");
    endpoints.latency[e] = {true,
                            p.at("ttft_headroom_ms"),
                            p.at("tpot_headroom_ms"),
                            p.at("ttft_ms"),
                            p.at("tpot_ms"),
                            p.at("dispatched_requests")};
  }
  input_scores[e] = entry.value("input_score", 0.0);
  if (!entry.contains("labels")) return;
  for (const auto& [key, value] : entry.at("labels").items()) endpoints.labels[e].emplace_back(key, value);
}

void PolicyCase::read_metrics(const json& metrics, std::size_t e) {
  endpoints.waiting[e] = metrics.at("waiting_queue_size");
  endpoints.running[e] = metrics.at("running_requests_size");
  endpoints.kv_usage[e] = metrics.at("kv_cache_usage");
  endpoints.metric_age_ms[e] = metrics.value("age_ms", routing::kNeverScraped);
  routing::Adapters& adapters = endpoints.adapters[e];
  adapters.max_active = metrics.value("max_active_models", std::int64_t{0});
  for (const auto& [key, list] :
       {std::pair{"active_models", &adapters.active}, {"waiting_models", &adapters.waiting}}) {
    if (!metrics.contains(key)) continue;
    for (const auto& item : metrics.at(key).items()) list->push_back(model_of(item.key()));
  }
}

std::uint32_t PolicyCase::model_of(const std::string& model) {
  return models_.emplace(model, static_cast<std::uint32_t>(models_.size())).first->second;
}

std::uint32_t PolicyCase::index_of(const std::string& endpoint) {
  const auto place = std::find(names.begin(), names.end(), endpoint);
  if (place == names.end()) names.push_back(endpoint);
  return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), endpoint) - names.begin());
}

}  // namespace poolcast::policies
