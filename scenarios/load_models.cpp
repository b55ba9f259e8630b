// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {

double load_percentile(const MappingReader& reader, const std::string& key) {
  double percentile = 0;
  const char* const last = key.data() + key.size();
  const bool has_p = !key.empty() && key[0] == 'p';
  const auto parsed = std::from_chars(key.data() + (has_p ? 1 : 0), last, percentile);
  if (!has_p || parsed.ec != std::errc() || parsed.ptr != last || !(percentile > 0) || !(percentile < 100)) {
    reader.fail_at_key(key, "unknown percentile " + quote(key), "such as p50, p95, p99 or p99.9");
  }
  return percentile;
}

namespace {

constexpr std::array<ImplementationStatus, 5> kStatuses = {
    ImplementationStatus::kExperimental, ImplementationStatus::kBatchOnly, ImplementationStatus::kCanary,
    ImplementationStatus::kProduction, ImplementationStatus::kRetired};

Precision load_precision(const YamlNode& node) {
  std::vector<std::string_view> names;
  for (Precision precision : kPrecisions) names.emplace_back(name(precision));
  return kPrecisions[node.choice(names)];
}

std::vector<Objective> load_objectives(const YamlNode& node) {
  constexpr std::array<Metric, 6> kMeasured = {Metric::kTtft, Metric::kTpot,       Metric::kItl,
                                               Metric::kE2e,  Metric::kQueueDelay, Metric::kNtpot};
  std::vector<Objective> objectives;
  MappingReader reader(node);
  for (Metric metric : kMeasured) {
    const auto limits = reader.optional(name(metric));
    if (!limits) continue;
    const MappingReader percentiles(*limits);
    for (const auto& [key, limit] : limits->entries()) {
      const double percentile = load_percentile(percentiles, key);
      objectives.push_back({metric, percentile, to_sim_time(read_seconds(limit))});
    }
  }
  reader.finish();
  return objectives;
}

ClassEntry load_class(const std::string& name, const YamlNode& node) {
  ClassEntry cls;
  cls.name = name;
  MappingReader reader(node);
  if (const auto objectives = reader.optional("objectives")) cls.objectives = load_objectives(*objectives);
  if (const auto priority = reader.optional("priority")) {
    cls.priority = static_cast<std::int32_t>(priority->integer(INT32_MIN, INT32_MAX));
  }
  if (const auto timeout = reader.optional("timeout")) cls.timeout = load_time_limit(*timeout);
  if (const auto patience = reader.optional("patience")) cls.patience = load_time_limit(*patience);
  reader.not_modelled_yet({"retry", "tenant"});
  reader.finish();
  return cls;
}

void load_contract(const YamlNode& node, LogicalModel& model) {
  MappingReader reader(node);
  if (const auto limits = reader.optional("limits")) {
    MappingReader parts(*limits);
    if (const auto context = parts.optional("context"); context && !context->is_word("none")) {
      model.context_limit = context->integer(1, kMostTokens);
    }
    if (const auto output = parts.optional("output"); output && !output->is_word("none")) {
      model.output_limit = output->integer(1, kMostTokens);
    }
    parts.finish();
  }
  if (const auto too_long = reader.optional("on_too_long")) {
    model.on_too_long = static_cast<TooLong>(too_long->choice({"reject", "truncate"}));
  }
  if (const auto classes = reader.optional("classes")) {
    for (const auto& [name, cls] : classes->entries()) {
      if (name.empty()) cls.fail("a name cannot be empty");
      model.classes.push_back(load_class(name, cls));
    }
  }
  reader.not_modelled_yet({"retry", "errors"});
  reader.finish();
}

ImplementationEntry load_implementation(const YamlNode& node) {
  ImplementationEntry entry;
  MappingReader reader(node);
  entry.pool = reader.required("pool").text();
  if (const auto artifact = reader.optional("artifact")) entry.artifact = artifact->text();
  if (const auto status = reader.optional("status")) {
    std::vector<std::string_view> names;
    for (ImplementationStatus known : kStatuses) names.emplace_back(name(known));
    entry.status = kStatuses[status->choice(names)];
  }
  if (const auto precision = reader.optional("precision")) entry.precision = load_precision(*precision);
  if (const auto kv = reader.optional("kv_precision")) entry.kv_precision = load_precision(*kv);
  if (const auto limits = reader.optional("limits")) {
    MappingReader parts(*limits);
    if (const auto context = parts.optional("context"); context && !context->is_word("none")) {
      entry.context_limit = context->integer(1, kMostTokens);
    }
    parts.finish();
  }
  if (const auto evaluation = reader.optional("evaluation")) {
    MappingReader parts(*evaluation);
    if (const auto score = parts.optional("score")) entry.score = score->number();
    if (const auto samples = parts.optional("samples")) entry.samples = samples->integer(1);
    parts.finish();
  }
  reader.finish();
  return entry;
}

bool records_evidence(const LogicalModel& model) {
  for (const ImplementationEntry& entry : model.implementations) {
    if (!entry.artifact.empty() || entry.status != ImplementationStatus::kProduction || entry.score) return true;
  }
  return model.threshold.has_value();
}

}  // namespace

const char* name(ImplementationStatus status) {
  constexpr const char* kNames[] = {"experimental", "batch-only", "canary", "production", "retired"};
  return kNames[static_cast<int>(status)];
}

namespace {

void load_task(MappingReader& reader, LogicalModel& model) {
  constexpr std::int64_t kMostSteps = 1'000'000;
  if (const auto task = reader.optional("task")) {
    std::vector<std::string_view> names;
    for (const Task known : kTasks) names.emplace_back(name(known));
    model.task = kTasks[task->choice(names)];
  }
  if (model.task == Task::kImage) {
    model.steps = reader.required("steps").integer(1, kMostSteps);
  } else if (reader.has("steps")) {
    reader.fail_at_key("steps", "only the task image has steps");
  }
}

}  // namespace

LogicalModel load_model(const YamlNode& node, const LoadContext& context) {
  LogicalModel model;
  model.at = node;
  MappingReader reader(node);
  model.name = reader.required("name").text();
  load_task(reader, model);
  if (const auto shape = reader.optional("shape")) model.shape = load_shape(*shape, context.catalog);
  if (model.shape && model.shape->context_limit > 0) model.context_limit = model.shape->context_limit;
  if (const auto contract = reader.optional("contract")) load_contract(*contract, model);
  if (model.classes.empty()) model.classes.push_back({"default", 0, kNever, kNever, {}});
  if (const auto evaluation = reader.optional("evaluation")) {
    MappingReader parts(*evaluation);
    if (const auto suite = parts.optional("suite")) model.suite = suite->text();
    if (const auto threshold = parts.optional("threshold")) model.threshold = threshold->number();
    parts.finish();
  }
  if (const auto list = reader.optional("implementations")) {
    for (const YamlNode& item : list->one_or_more()) model.implementations.push_back(load_implementation(item));
    if (model.implementations.empty()) list->fail("needs at least one entry");
  }
  reader.finish();
  if (records_evidence(model)) {
    context.notes.push_back(fmt::format(
        "model {}: artifacts, statuses and evaluations are recorded; no gate applies them yet", model.name));
  }
  return model;
}

}  // namespace poolcast
