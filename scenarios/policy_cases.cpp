// SPDX-License-Identifier: Apache-2.0
#include "scenarios/policy_cases.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "scenarios/endpoint_picker_config.h"
#include "scenarios/load_gateway.h"
#include "scenarios/load_parts.h"
#include "scenarios/units.h"
#include "sim/policies/registry.h"
#include "sim/routing/aliases.h"
#include "sim/routing/registry.h"
#include "sim/routing/spellings.h"

namespace poolcast {
namespace {

constexpr std::int64_t kMostCount = 1'000'000'000'000;
constexpr std::size_t kMostEndpoints = 10'000;

std::int64_t count_of(MappingReader& reader, const char* key, std::int64_t otherwise = 0) {
  const auto node = reader.optional(key);
  return node ? node->integer(0, kMostCount) : otherwise;
}

double number_of(MappingReader& reader, const char* key, double least = -1e300, double most = 1e300) {
  const auto node = reader.optional(key);
  return node ? node->number(least, most) : 0;
}

routing::RequestView read_request(const YamlNode& node) {
  routing::RequestView request;
  MappingReader reader(node);
  request.prompt_tokens = count_of(reader, "prompt_tokens");
  request.output_tokens = count_of(reader, "output_tokens");
  if (const auto priority = reader.optional("priority")) {
    request.priority = static_cast<std::int32_t>(priority->integer(INT32_MIN, INT32_MAX));
  }
  if (const auto session = reader.optional("session")) {
    request.session = static_cast<std::uint64_t>(session->integer(0, INT64_MAX));
  }
  reader.finish();
  return request;
}

/// What `model.*` of expressions means.
void read_model(const YamlNode& node, routing::RequestView& request) {
  MappingReader reader(node);
  request.model_context_limit = count_of(reader, "context_limit", request.model_context_limit);
  request.model_output_limit = count_of(reader, "output_limit", request.model_output_limit);
  reader.finish();
}

routing::LatencyPrediction read_latency(const YamlNode& node) {
  routing::LatencyPrediction latency;
  latency.known = true;
  MappingReader reader(node);
  latency.ttft_ms = number_of(reader, "ttft_ms");
  latency.tpot_ms = number_of(reader, "tpot_ms");
  latency.ttft_headroom_ms = number_of(reader, "ttft_headroom_ms");
  latency.tpot_headroom_ms = number_of(reader, "tpot_headroom_ms");
  latency.dispatched_requests = count_of(reader, "dispatched_requests");
  reader.finish();
  return latency;
}

std::vector<std::pair<std::string, std::string>> read_labels(const YamlNode& node) {
  std::vector<std::pair<std::string, std::string>> labels;
  for (const auto& [key, value] : node.entries()) labels.emplace_back(key, value.text());
  return labels;
}

double read_age_ms(const YamlNode& node) {
  return node.is_word("never") ? routing::kNeverScraped : read_seconds(node).value * 1e3;
}

void read_endpoint(const YamlNode& node, std::size_t i, PolicyCase& c) {
  routing::Endpoints& e = c.endpoints;
  MappingReader reader(node);
  const YamlNode name = reader.required("name");
  c.names[i] = name.text();
  if (c.names[i] == "none") name.fail("is the word for no endpoint");
  e.waiting[i] = count_of(reader, "waiting");
  e.running[i] = count_of(reader, "running");
  e.kv_usage[i] = number_of(reader, "kv_usage", 0, 1);
  if (const auto busy = reader.optional("busy")) {
    e.busy.resize(e.size());
    e.busy[i] = busy->number(0, 1);
  }
  if (const auto age = reader.optional("metric_age")) e.metric_age_ms[i] = read_age_ms(*age);
  e.in_flight_requests[i] = count_of(reader, "in_flight_requests", e.waiting[i] + e.running[i]);
  e.in_flight_tokens[i] = count_of(reader, "in_flight_tokens");
  routing::PrefixMatch& prefix = e.prefix[i];
  prefix.block_size_tokens = count_of(reader, "block_size_tokens", 16);
  prefix.total_blocks = prefix.block_size_tokens > 0 ? c.request.prompt_tokens / prefix.block_size_tokens : 0;
  prefix.total_blocks = count_of(reader, "total_blocks", prefix.total_blocks);
  if (const auto match = reader.optional("match_blocks")) prefix.match_blocks = match->integer(0, prefix.total_blocks);
  e.approximate[i] = prefix;
  if (const auto match = reader.optional("approximate_match_blocks")) {
    e.approximate[i].match_blocks = match->integer(0, prefix.total_blocks);
  }
  const std::int64_t cached = std::min(c.request.prompt_tokens, prefix.match_blocks * prefix.block_size_tokens);
  e.uncached_tokens[i] = count_of(reader, "uncached_tokens", c.request.prompt_tokens - cached);
  if (const auto latency = reader.optional("latency")) {
    e.latency.resize(e.size());
    e.latency[i] = read_latency(*latency);
  }
  if (const auto labels = reader.optional("labels")) {
    e.labels.resize(e.size());
    e.labels[i] = read_labels(*labels);
  }
  if (const auto weight = reader.optional("weight")) c.weights[i] = weight->number(0, 1e15);
  reader.finish();
}

void read_endpoints(const YamlNode& list, PolicyCase& c) {
  const auto items = list.items();
  if (items.empty()) list.fail("a case needs an endpoint");
  if (items.size() > kMostEndpoints) list.fail(fmt::format("at most {} endpoints", kMostEndpoints));
  c.endpoints.reset(items.size());
  c.endpoints.approximate.resize(items.size());
  c.names.resize(items.size());
  c.weights.assign(items.size(), 1);
  std::vector<std::pair<std::string, YamlNode>> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    read_endpoint(items[i], i, c);
    names.emplace_back(c.names[i], items[i]);
  }
  check_names(names);
}

/// A policy divides by weights; only `weighted` knows one of zero.
void check_weights(const YamlNode& list, const PolicyCase& c, const PolicyUnderTest& policy) {
  const auto items = list.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (c.weights[i] > 0 || (policy.name == "weighted" && policy.pipeline == nullptr)) continue;
    items[i].find("weight")->fail("must be above zero: only the policy weighted has endpoints without traffic");
  }
  if (std::all_of(c.weights.begin(), c.weights.end(), [](double w) { return w == 0; })) {
    list.fail("every weight is zero");
  }
}

// ---------------------------------------------------------------- what is expected

std::uint32_t endpoint_named(const YamlNode& at, const std::string& name, const PolicyCase& c) {
  const auto place = std::find(c.names.begin(), c.names.end(), name);
  if (place != c.names.end()) return static_cast<std::uint32_t>(place - c.names.begin());
  at.fail(fmt::format("no endpoint of this case is named {}", quote(name)),
          spelling_hint(name, {c.names.begin(), c.names.end()}));
}

std::vector<std::uint32_t> endpoints_named(const YamlNode& list, const PolicyCase& c) {
  std::vector<std::uint32_t> indices;
  for (const YamlNode& item : list.items()) indices.push_back(endpoint_named(item, item.text(), c));
  return indices;
}

/// "a" or "plugin.a"; plugins and endpoints may have dots in their names.
PolicyCase::Score read_score(const std::string& key, const YamlNode& value, const PolicyCase& c,
                             const PolicyUnderTest& policy) {
  if (policy.pipeline == nullptr) value.fail(fmt::format("the policy {} has no scores", policy.name));
  for (const routing::PipelineSpec::Ref& ref : *policy.pipeline->refs) {
    const routing::PluginSpec& plugin = policy.pipeline->plugins[ref.plugin];
    if (key.rfind(plugin.name + ".", 0) != 0) continue;
    if (!routing::find_plugin(plugin.type)->is("scorer")) value.fail(fmt::format("{} is no scorer", plugin.name));
    return {plugin.name, endpoint_named(value, key.substr(plugin.name.size() + 1), c), value.number()};
  }
  return {"", endpoint_named(value, key, c), value.number()};
}

void read_scores(const YamlNode& node, PolicyCase& c, const PolicyUnderTest& policy) {
  for (const auto& [key, value] : node.entries()) {
    if (key == "tolerance") {
      c.score_tolerance = value.number(0, 1e300);
    } else {
      c.scores.push_back(read_score(key, value, c, policy));
    }
  }
}

void read_distribution(const YamlNode& node, PolicyCase& c) {
  double sum = 0;
  for (const auto& [key, value] : node.entries()) {
    if (key == "tolerance") {
      c.share_tolerance = read_share(value);
    } else {
      c.distribution.emplace_back(endpoint_named(value, key, c), read_share(value));
      sum += c.distribution.back().second;
    }
  }
  if (sum > 1 + 1e-9) node.fail(fmt::format("the shares sum to {}, more than 1", sum));
}

void read_expected(const YamlNode& node, PolicyCase& c, const PolicyUnderTest& policy) {
  MappingReader reader(node);
  if (const auto pick = reader.optional("pick")) {
    c.one_of.emplace();
    if (!pick->is_word("none")) c.one_of->push_back(endpoint_named(*pick, pick->text(), c));
  }
  if (const auto list = reader.optional("one_of")) {
    if (c.one_of) reader.fail_at_key("one_of", "stands beside \"pick\"");
    c.one_of = endpoints_named(*list, c);
    if (c.one_of->empty()) list->fail("must name an endpoint; none is `pick: none`");
  }
  if (const auto list = reader.optional("sequence")) c.sequence = endpoints_named(*list, c);
  if (const auto list = reader.optional("dropped")) {
    if (policy.pipeline == nullptr) list->fail(fmt::format("the policy {} has no filters", policy.name));
    c.dropped = endpoints_named(*list, c);
    std::sort(c.dropped->begin(), c.dropped->end());
  }
  if (const auto scores = reader.optional("scores")) read_scores(*scores, c, policy);
  if (const auto shares = reader.optional("distribution")) read_distribution(*shares, c);
  c.script_failures = count_of(reader, "script_failures");
  reader.finish();
  if (node.entries().empty()) node.fail("a case must expect something");
}

PolicyCase read_case(const YamlNode& node, const PolicyUnderTest& policy) {
  PolicyCase c;
  MappingReader reader(node);
  c.name = reader.required("name").text();
  if (const auto seed = reader.optional("seed")) c.seed = static_cast<std::uint64_t>(seed->integer(0, INT64_MAX));
  if (const auto request = reader.optional("request")) c.request = read_request(*request);
  if (const auto model = reader.optional("model")) read_model(*model, c.request);
  const YamlNode endpoints = reader.required("endpoints");
  read_endpoints(endpoints, c);
  check_weights(endpoints, c, policy);
  read_expected(reader.required("expect"), c, policy);
  if (!c.distribution.empty()) c.repeat = 1000;
  if (c.sequence) c.repeat = static_cast<std::int64_t>(c.sequence->size());
  if (const auto repeat = reader.optional("repeat")) {
    if (c.sequence) reader.fail_at_key("repeat", "stands beside `sequence`, whose length it is");
    c.repeat = repeat->integer(1, 10'000'000);
  }
  reader.finish();
  return c;
}

}  // namespace

PolicyUnderTest load_policy_under_test(const std::string& given) {
  const std::string name(routing::policy_name(given));
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : policy_table()) {
    if (policy.name == name) return {name, nullptr};
    names.push_back(policy.name);
  }
  for (const routing::PolicyAlias& alias : routing::policy_aliases()) {
    if (alias.name == name) return {name, std::make_shared<routing::PipelineSpec>(alias.make())};
    names.push_back(alias.name);
  }
  std::error_code ignored;
  const bool file = std::filesystem::exists(name, ignored);
  if (const auto* missing = routing::find_missing_policy(name); missing != nullptr && !file) {
    throw ConfigError(not_modelled(*missing));
  }
  if (is_of_gateway(name) && !file) {
    throw ConfigError(fmt::format("{} chooses among pools as {} does, by the gateway's rules: test that one", name,
                                  registered_policy(name)));
  }
  if (name.find(':') != std::string::npos && !file) {
    return {name, std::make_shared<routing::PipelineSpec>(load_weighted_policy(parse_yaml("POLICY", name, true)))};
  }
  if (name.find_first_of("/.") == std::string::npos && !file) {
    throw ConfigError(fmt::format("{} is neither a policy nor a file{}", quote(name), suggestion(name, names)));
  }
  std::vector<std::string> notes;
  return {name, std::make_shared<routing::PipelineSpec>(load_endpoint_picker(load_yaml_file(name), notes))};
}

std::vector<PolicyCase> load_policy_cases(const YamlNode& document, const PolicyUnderTest& policy) {
  std::vector<PolicyCase> cases;
  std::vector<std::pair<std::string, YamlNode>> names;
  for (const YamlNode& item : document.items()) {
    cases.push_back(read_case(item, policy));
    names.emplace_back(cases.back().name, item);
  }
  if (cases.empty()) document.fail("there is no case");
  check_names(names);
  return cases;
}

}  // namespace poolcast
