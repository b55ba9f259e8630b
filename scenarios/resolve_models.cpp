// SPDX-License-Identifier: Apache-2.0
// Models, their contracts and their implementations. What a contract or the catalog may state and does not is left out.
#include <fmt/format.h>

#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

const char* word(bool value) { return value ? "true" : "false"; }

std::string words(const std::vector<std::string>& all) {
  std::vector<std::string> texts;
  for (const std::string& text : all) texts.push_back(yaml_text(text));
  return flow_list(texts);
}

void write_objectives(YamlWriter& yaml, const ClassEntry& cls) {
  std::vector<std::string> objectives;
  for (std::size_t i = 0; i < cls.objectives.size();) {
    const Metric metric = cls.objectives[i].metric;
    std::vector<std::string> limits;
    for (; i < cls.objectives.size() && cls.objectives[i].metric == metric; ++i) {
      limits.push_back(
          fmt::format("p{}: {}", number_text(cls.objectives[i].percentile), time_text(cls.objectives[i].limit)));
    }
    objectives.push_back(fmt::format("{}: {{{}}}", name(metric), fmt::join(limits, ", ")));
  }
  if (cls.availability > 0) objectives.push_back("availability: " + number_text(cls.availability));
  yaml.value("objectives", fmt::format("{{{}}}", fmt::join(objectives, ", ")));
}

void write_class(YamlWriter& yaml, const ClassEntry& cls) {
  yaml.open(cls.name);
  write_objectives(yaml, cls);
  yaml.value("priority", std::to_string(cls.priority));
  yaml.value("timeout", time_text(cls.timeout));
  yaml.value("patience", time_text(cls.patience));
  if (cls.batch || cls.name == "batch") yaml.value("batch", word(cls.batch));
  if (!cls.data_handling.empty()) yaml.text("data_handling", cls.data_handling);
  write_retry(yaml, cls.retry);
  yaml.close();
}

void write_data_handling(YamlWriter& yaml, const std::vector<DataHandling>& all) {
  if (all.empty()) return;
  yaml.open("data_handling");
  for (const DataHandling& handling : all) {
    std::vector<std::string> parts;
    if (!handling.regions.empty()) parts.push_back("regions: " + words(handling.regions));
    if (!handling.pools.empty()) parts.push_back("pools: " + words(handling.pools));
    yaml.value(handling.name, fmt::format("{{{}}}", fmt::join(parts, ", ")));
  }
  yaml.close();
}

void write_errors(YamlWriter& yaml, const std::vector<ErrorCategory>& categories) {
  if (categories.empty()) return;
  yaml.open("errors");
  for (const ErrorCategory& category : categories) {
    std::vector<std::string> reasons;
    for (const Reason reason : category.reasons) reasons.emplace_back(name(reason));
    yaml.value(category.name, fmt::format("{{reasons: {}, retry: {}}}", flow_list(reasons), word(category.retry)));
  }
  yaml.close();
}

void write_cost(YamlWriter& yaml, const CostRule& cost) {
  yaml.open("cost");
  yaml.value("at", fmt::format("{{prompt_tokens: {}, output_tokens: {}, batch: {}}}", cost.prompt_tokens,
                               cost.output_tokens, cost.batch));
  if (cost.per_million_tokens) yaml.value("per_million_tokens", to_text(*cost.per_million_tokens));
  if (cost.margin) yaml.value("margin", number_text(*cost.margin));
  if (!cost.incumbent.empty()) yaml.text("incumbent", cost.incumbent);
  yaml.close();
}

void write_contract(YamlWriter& yaml, const LogicalModel& model) {
  const ServiceContract& contract = model.contract;
  yaml.open("contract");
  if (!contract.schema.empty()) yaml.text("schema", contract.schema);
  if (contract.streaming) yaml.value("streaming", word(*contract.streaming));
  if (contract.cancellation) yaml.value("cancellation", word(*contract.cancellation));
  const std::string input =
      model.input_limit == INT64_MAX ? "" : fmt::format("input: {}, ", limit_text(model.input_limit));
  yaml.value("limits", fmt::format("{{context: {}, {}output: {}}}", limit_text(model.context_limit), input,
                                   limit_text(model.output_limit)));
  yaml.value("on_too_long", model.on_too_long == TooLong::kReject ? "reject" : "truncate");
  write_data_handling(yaml, contract.data_handling);
  yaml.open("classes");
  for (const ClassEntry& cls : model.classes) write_class(yaml, cls);
  yaml.close();
  write_errors(yaml, contract.errors);
  if (!contract.metadata.empty()) yaml.value("metadata", flow_list(contract.metadata));
  if (contract.cost) write_cost(yaml, *contract.cost);
  if (!contract.compatibility_pool.empty()) yaml.text("compatibility_pool", contract.compatibility_pool);
  yaml.close();
}

void write_artifact(YamlWriter& yaml, const Artifact& artifact) {
  if (artifact.name.empty()) return;
  if (artifact.digest.empty() && !artifact.precision && !artifact.layout && artifact.sbom.empty()) {
    return yaml.text("artifact", artifact.name);
  }
  yaml.open("artifact");
  yaml.text("name", artifact.name);
  if (!artifact.digest.empty()) yaml.text("digest", artifact.digest);
  if (artifact.precision) yaml.value("precision", name(*artifact.precision));
  if (artifact.layout) yaml.value("layout", layout_text(*artifact.layout));
  if (!artifact.sbom.empty()) yaml.text("sbom", artifact.sbom);
  yaml.close();
}

std::string result_text(const EvaluationResult& result) {
  std::vector<std::string> parts;
  if (!result.suite.empty()) parts.push_back("suite: " + yaml_text(result.suite));
  if (result.score) parts.push_back("score: " + number_text(*result.score));
  if (result.samples) parts.push_back("samples: " + std::to_string(*result.samples));
  if (result.threshold) parts.push_back("threshold: " + number_text(*result.threshold));
  if (!result.date.empty()) parts.push_back("date: " + result.date);
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string shape_text(const CompiledShape& shape) {
  std::vector<std::string> parts;
  if (shape.input != INT64_MAX) parts.push_back(fmt::format("input: {}", shape.input));
  if (shape.context != INT64_MAX) parts.push_back(fmt::format("context: {}", shape.context));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

void write_evidence(YamlWriter& yaml, const ImplementationEntry& entry) {
  std::vector<std::string> results;
  for (const EvaluationResult& result : entry.evaluations) results.push_back(result_text(result));
  if (results.size() == 1) yaml.value("evaluation", results[0]);
  if (results.size() > 1) yaml.value("evaluation", flow_list(results));
  if (!entry.calibration.empty()) yaml.text("calibration", entry.calibration);
  if (!entry.software.empty()) {
    yaml.open("software");
    for (const auto& [name, version] : entry.software) yaml.text(name, version);
    yaml.close();
  }
  if (entry.history.empty()) return;
  yaml.open("history");
  for (const HistoryEntry& event : entry.history) {
    yaml.open_item();
    yaml.text("date", event.date);
    yaml.text("event", event.event);
    yaml.close_item();
  }
  yaml.close();
}

void write_implementation(YamlWriter& yaml, const ImplementationEntry& entry) {
  yaml.open_item();
  yaml.text("pool", entry.pool);
  write_artifact(yaml, entry.artifact);
  yaml.value("status", name(entry.status));
  yaml.value("precision", name(entry.precision));
  if (entry.kv_precision) yaml.value("kv_precision", name(*entry.kv_precision));
  std::string limits = fmt::format("context: {}", limit_text(entry.limits.context));
  if (entry.limits.input != INT64_MAX) limits += fmt::format(", input: {}", entry.limits.input);
  if (entry.limits.output != INT64_MAX) limits += fmt::format(", output: {}", entry.limits.output);
  yaml.value("limits", fmt::format("{{{}}}", limits));
  std::vector<std::string> shapes;
  for (const CompiledShape& shape : entry.shapes) shapes.push_back(shape_text(shape));
  if (!shapes.empty()) yaml.value("shapes", flow_list(shapes));
  if (!entry.streaming) yaml.value("streaming", "false");
  if (!entry.cancellation) yaml.value("cancellation", "false");
  write_evidence(yaml, entry);
  yaml.close_item();
}

void write_evaluation(YamlWriter& yaml, const LogicalModel& model) {
  if (model.suite.empty() && !model.threshold) return;
  yaml.open("evaluation");
  if (!model.suite.empty()) yaml.text("suite", model.suite);
  if (model.threshold) yaml.value("threshold", number_text(*model.threshold));
  if (model.threshold) yaml.value("confidence", number_text(model.confidence));
  yaml.close();
}

}  // namespace

void write_model(YamlWriter& yaml, const LogicalModel& model) {
  yaml.open_item();
  yaml.text("name", model.name);
  if (!model.version.empty()) yaml.text("version", model.version);
  yaml.value("task", name(model.task));
  if (model.task == Task::kImage) yaml.value("steps", std::to_string(model.steps));
  if (model.shape) write_shape(yaml, *model.shape);
  write_contract(yaml, model);
  write_evaluation(yaml, model);
  yaml.open("implementations");
  for (const ImplementationEntry& entry : model.implementations) write_implementation(yaml, entry);
  yaml.close();
  yaml.close_item();
}

}  // namespace poolcast
