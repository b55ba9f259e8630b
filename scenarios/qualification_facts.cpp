// SPDX-License-Identifier: Apache-2.0
#include "scenarios/qualification_facts.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "scenarios/digest.h"
#include "scenarios/json_tree.h"
#include "scenarios/resolve.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string digest_of(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return sha256_of_file(path);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) {
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string lines;
  for (const fs::path& file : files) {
    lines += sha256_of_file(file.string()) + "  " + fs::relative(file, path, ignored).generic_string() + "\n";
  }
  return sha256(lines);
}

std::string name_of(const std::string& path) {
  const fs::path file = fs::path(path).lexically_normal();
  return (file.has_filename() ? file : file.parent_path()).filename().string();
}

/// One entry a file, however often it is named.
void add_file(Json& list, const char* kind, const std::string& path) {
  for (const Json& entry : list) {
    if (entry["path"] == path && entry["kind"] == kind) return;
  }
  list.push_back({{"kind", kind}, {"name", name_of(path)}, {"path", path}, {"sha256", digest_of(path)}});
}

Json tokens(std::int64_t limit) { return limit == INT64_MAX ? Json() : Json(limit); }

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json software(const PoolEntry& pool) {
  Json json = Json::object();
  const auto* const measured = std::get_if<MeasuredCurve>(&pool.curves);
  if (measured == nullptr) return json;
  for (const auto& [key, value] : measured->content->provenance) json[key] = value;
  return json;
}

/// What the catalog states, and beside it what the calibration does.
Json software(const ImplementationEntry& entry, const PoolEntry& pool) {
  Json json = Json::object();
  for (const auto& [name, version] : entry.software) json[name] = version;
  const Json measured = software(pool);
  for (const auto& [key, value] : measured.items()) {
    if (!json.contains(key)) json[key] = value;
  }
  return json;
}

Json curve(const PoolEntry& pool) {
  if (std::holds_alternative<RooflineOptions>(pool.curves)) return {{"kind", "roofline"}};
  if (const auto* const fit = std::get_if<StepFit>(&pool.curves)) {
    return {{"kind", "coefficients"}, {"source", fit->source}};
  }
  const CurveFile& file = *std::get<MeasuredCurve>(pool.curves).content;
  return {{"kind", "calibration"},
          {"digest", "sha256:" + file.digest},
          {"device", file.identity.device},
          {"implementation", file.identity.implementation},
          {"origin", file.identity.origin}};
}

Json evaluation(const LogicalModel& model, const ImplementationEntry& entry, double confidence) {
  const EvaluationResult* const result = newest_result(entry.evaluations, model.suite);
  const EvaluationResult stated = result ? *result : EvaluationResult();
  return {{"suite", model.suite},
          {"threshold", or_null(model.threshold)},
          {"score", or_null(stated.score)},
          {"samples", or_null(stated.samples)},
          {"date", text_or_null(stated.date)},
          {"confidence", confidence},
          {"at_least", or_null(score_bound(result, confidence))}};
}

Json binding(const LogicalModel& model, const PoolEntry& pool, double confidence) {
  const ImplementationEntry& entry = model.implementations[pool.implementation];
  return {{"model", model.name},
          {"pool", pool.name},
          {"status", name(entry.status)},
          {"artifact",
           {{"name", entry.artifact.name},
            {"digest", text_or_null(entry.artifact.digest)},
            {"sbom", text_or_null(entry.artifact.sbom)},
            {"precision", name(entry.precision)},
            {"kv_precision", name(pool.kv_precision)}}},
          {"evaluation", evaluation(model, entry, confidence)},
          {"limits",
           {{"context_tokens", tokens(std::min(entry.limits.context, model.context_limit))},
            {"output_tokens", tokens(model.output_limit)}}},
          {"hardware",
           {{"accelerator", pool.accelerator.name},
            {"replicas", pool.replicas},
            {"devices_per_replica", pool.layout.devices()}}},
          {"engine", {{"kind", pool.engine.kind}, {"version", pool.engine.version}}},
          {"software", software(entry, pool)},
          {"curve", curve(pool)},
          {"price_per_device_hour_usd", pool.price_per_device ? Json(pool.price_per_device->value) : Json()}};
}

Json resolved(const Scenario& scenario) { return json_of(parse_yaml(scenario.name, identity_yaml(scenario))); }

}  // namespace

Json input_files(const Scenario& scenario) {
  Json list = Json::array();
  add_file(list, "scenario", scenario.name);
  for (const SideFile& file : scenario.side_files) add_file(list, file.kind.c_str(), file.path);
  for (const WorkloadEntry& entry : scenario.workload) {
    if (const auto* const trace = std::get_if<TraceSpec>(&entry.load)) add_file(list, "trace", trace->file);
  }
  for (const PoolEntry& pool : scenario.pools) {
    if (const auto* const curve = std::get_if<MeasuredCurve>(&pool.curves)) add_file(list, "calibration", curve->file);
  }
  return list;
}

Json bindings(const Scenario& scenario, double confidence) {
  Json list = Json::array();
  for (const PoolEntry& pool : scenario.pools) {
    list.push_back(binding(scenario.models[pool.model], pool, confidence));
  }
  return list;
}

Json facts(const Scenario& scenario) {
  Json list = Json::array();
  for (const PoolEntry& pool : scenario.pools) {
    Json stated = software(pool);
    if (stated.empty()) continue;
    for (const char* of_the_day : {"date", "host"}) stated.erase(of_the_day);
    Json entry = {{"pool", pool.name}};
    entry.update(stated);
    list.push_back(std::move(entry));
  }
  return {{"scenario", resolved(scenario)}, {"software", list}};
}

Json policy(const Scenario& scenario) {
  const Json all = resolved(scenario);
  Json json = all.at("routing");
  for (const char* key : {"move", "moves"}) {
    if (const auto moves = all.find(key); moves != all.end()) json["moves"] = *moves;
  }
  return json;
}

}  // namespace poolcast
