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

double load_confidence(const YamlNode& node) {
  const double confidence = read_share(node);
  if (!(confidence >= 0.5 && confidence < 1)) node.fail("must be from 50 % to below 100 %, got " + quote(node.text()));
  return confidence;
}

LogicalModel load_model(const YamlNode& node, const LoadContext& context) {
  LogicalModel model;
  model.at = node;
  MappingReader reader(node);
  model.name = reader.required("name").text();
  if (const auto version = reader.optional("version")) model.version = version->text();
  load_task(reader, model);
  if (const auto shape = reader.optional("shape")) model.shape = load_shape(*shape, context.catalog);
  if (model.shape && model.shape->context_limit > 0) model.context_limit = model.shape->context_limit;
  if (const auto contract = reader.optional("contract")) load_contract(*contract, model);
  if (model.classes.empty()) model.classes.emplace_back().name = "default";
  if (const auto evaluation = reader.optional("evaluation")) {
    MappingReader parts(*evaluation);
    if (const auto suite = parts.optional("suite")) model.suite = suite->text();
    if (const auto threshold = parts.optional("threshold")) model.threshold = threshold->number(0, 1);
    if (const auto confidence = parts.optional("confidence")) model.confidence = load_confidence(*confidence);
    parts.finish();
  }
  if (const auto list = reader.optional("implementations")) {
    for (const YamlNode& item : list->one_or_more()) model.implementations.push_back(load_implementation(item));
    if (model.implementations.empty()) list->fail("needs at least one entry");
  }
  reader.finish();
  return model;
}

}  // namespace poolcast
