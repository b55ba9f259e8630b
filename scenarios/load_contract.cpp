// SPDX-License-Identifier: Apache-2.0
// The service contract of a model.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/load_gateway.h"
#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

/// `availability` stands beside the latencies.
void load_objectives(const YamlNode& node, ClassEntry& cls) {
  constexpr std::array<Metric, 6> kMeasured = {Metric::kTtft, Metric::kTpot,       Metric::kItl,
                                               Metric::kE2e,  Metric::kQueueDelay, Metric::kNtpot};
  MappingReader reader(node);
  for (Metric metric : kMeasured) {
    const auto limits = reader.optional(name(metric));
    if (!limits) continue;
    const MappingReader percentiles(*limits);
    for (const auto& [key, limit] : limits->entries()) {
      const double percentile = load_percentile(percentiles, key);
      cls.objectives.push_back({metric, percentile, to_sim_time(read_seconds(limit))});
    }
  }
  if (const auto share = reader.optional("availability")) cls.availability = read_share(*share);
  reader.finish();
}

ClassEntry load_class(const std::string& name, const YamlNode& node) {
  ClassEntry cls;
  cls.name = name;
  cls.batch = name == "batch";
  MappingReader reader(node);
  if (const auto objectives = reader.optional("objectives")) load_objectives(*objectives, cls);
  if (const auto priority = reader.optional("priority")) {
    cls.priority = static_cast<std::int32_t>(priority->integer(INT32_MIN, INT32_MAX));
  }
  if (const auto timeout = reader.optional("timeout")) cls.timeout = load_time_limit(*timeout);
  if (const auto patience = reader.optional("patience")) cls.patience = load_time_limit(*patience);
  if (const auto batch = reader.optional("batch")) cls.batch = batch->boolean();
  if (const auto handling = reader.optional("data_handling")) cls.data_handling = handling->text();
  if (const auto retry = reader.optional("retry")) cls.retry = load_retry(*retry);
  reader.not_modelled_yet({"tenant"});
  reader.finish();
  return cls;
}

std::vector<std::string> load_words(const YamlNode& node) {
  std::vector<std::string> words;
  for (const YamlNode& word : node.one_or_more()) words.push_back(word.text());
  if (words.empty()) node.fail("needs at least one entry");
  return words;
}

std::vector<DataHandling> load_data_handling(const YamlNode& node) {
  std::vector<DataHandling> all;
  for (const auto& [name, entry] : node.entries()) {
    if (name.empty()) entry.fail("a name cannot be empty");
    DataHandling handling{name, {}, {}, entry};
    MappingReader reader(entry);
    if (const auto regions = reader.optional("regions")) handling.regions = load_words(*regions);
    if (const auto pools = reader.optional("pools")) handling.pools = load_words(*pools);
    reader.finish();
    if (handling.regions.empty() && handling.pools.empty()) entry.fail("needs regions or pools");
    all.push_back(std::move(handling));
  }
  return all;
}

void check_data_handling(const YamlNode& classes, const LogicalModel& model) {
  std::vector<std::string_view> names;
  for (const DataHandling& handling : model.contract.data_handling) names.push_back(handling.name);
  for (const ClassEntry& cls : model.classes) {
    if (cls.data_handling.empty()) continue;
    if (std::find(names.begin(), names.end(), cls.data_handling) != names.end()) continue;
    deepest(classes, {cls.name, "data_handling"})
        .fail("the contract has no data_handling " + quote(cls.data_handling), spelling_hint(cls.data_handling, names));
  }
}

/// Each reason in one category at most.
std::vector<ErrorCategory> load_errors(const YamlNode& node) {
  std::vector<std::string_view> names;
  for (int i = 1; i < kReasons; ++i) names.emplace_back(name(static_cast<Reason>(i)));
  std::vector<ErrorCategory> categories;
  std::array<bool, kReasons> taken{};
  for (const auto& [name, entry] : node.entries()) {
    if (name.empty()) entry.fail("a name cannot be empty");
    ErrorCategory category;
    category.name = name;
    MappingReader reader(entry);
    for (const YamlNode& word : reader.required("reasons").one_or_more()) {
      const std::size_t reason = word.choice(names) + 1;
      if (taken[reason]) word.fail("stands in another category, or twice");
      taken[reason] = true;
      category.reasons.push_back(static_cast<Reason>(reason));
    }
    if (category.reasons.empty()) entry.fail("needs at least one reason");
    if (const auto retry = reader.optional("retry")) category.retry = retry->boolean();
    reader.finish();
    categories.push_back(std::move(category));
  }
  if (categories.empty()) node.fail("needs at least one category");
  return categories;
}

bool names_reasons(const YamlNode& classes, const std::string& cls) {
  const YamlNode at = deepest(classes, {cls, "retry", "reasons"});
  return at.is_list() || at.is_scalar();
}

/// What the contract says may not be tried again is not: the default reasons leave it out, and stated ones must.
void keep_promised_retries(const YamlNode& classes, LogicalModel& model) {
  for (ClassEntry& cls : model.classes) {
    if (cls.retry.max == 0) continue;
    ReasonSet kept;
    for (int i = 1; i < kReasons; ++i) {
      const auto reason = static_cast<Reason>(i);
      if (!cls.retry.reasons.has(reason)) continue;
      const ErrorCategory* const bar = model.contract.barring_retry(reason);
      if (bar == nullptr) {
        kept.add(reason);
      } else if (names_reasons(classes, cls.name)) {
        deepest(classes, {cls.name, "retry", "reasons"})
            .fail(fmt::format("{} is in the category {} of the contract, which lets nobody try again", name(reason),
                              quote(bar->name)));
      }
    }
    if (kept == ReasonSet()) {
      deepest(classes, {cls.name, "retry"}).fail("the contract lets nobody try again, whatever the reason");
    }
    cls.retry.reasons = kept;
  }
}

std::vector<std::string> load_metadata(const YamlNode& node) {
  std::vector<std::string> told;
  for (const YamlNode& word : node.one_or_more()) {
    word.choice(metadata_names());
    if (std::find(told.begin(), told.end(), word.text()) != told.end()) word.fail("stands twice");
    told.push_back(word.text());
  }
  return told;
}

CostRule load_cost(const YamlNode& node) {
  CostRule cost;
  cost.at = node;
  MappingReader reader(node);
  if (const auto at = reader.optional("at")) {
    MappingReader parts(*at);
    if (const auto prompt = parts.optional("prompt_tokens")) cost.prompt_tokens = prompt->integer(1, kMostTokens);
    if (const auto output = parts.optional("output_tokens")) cost.output_tokens = output->integer(1, kMostTokens);
    if (const auto batch = parts.optional("batch")) cost.batch = batch->integer(1, 1'000'000);
    parts.finish();
  }
  if (const auto most = reader.optional("per_million_tokens")) cost.per_million_tokens = read_usd(*most);
  if (const auto margin = reader.optional("margin")) cost.margin = read_share(*margin);
  if (const auto incumbent = reader.optional("incumbent")) {
    cost.incumbent = incumbent->text();
    if (!cost.margin) incumbent->fail("is only compared with where a margin is stated");
  }
  reader.finish();
  if (!cost.per_million_tokens && !cost.margin) node.fail("needs per_million_tokens or margin");
  return cost;
}

void load_limits(const YamlNode& node, LogicalModel& model) {
  LengthLimits limits{model.context_limit, INT64_MAX, INT64_MAX};
  load_length_limits(node, limits);
  model.context_limit = limits.context;
  model.input_limit = limits.input;
  model.output_limit = limits.output;
}

void check_promises(const MappingReader& reader, const YamlNode& classes, const LogicalModel& model) {
  if (model.contract.streaming.value_or(false) && model.task != Task::kGenerate) {
    reader.fail_at_key("streaming", "only models that generate text stream it");
  }
  if (model.contract.cost && model.task != Task::kGenerate) {
    reader.fail_at_key("cost", "only of models that generate text; others are not modelled yet");
  }
  if (model.contract.cancellation.value_or(true)) return;
  for (const ClassEntry& cls : model.classes) {
    if (cls.patience == kNever) continue;
    deepest(classes, {cls.name, "patience"}).fail("its users give up, and the contract lets nobody cancel");
  }
}

}  // namespace

void load_length_limits(const YamlNode& node, LengthLimits& limits) {
  MappingReader parts(node);
  const auto bound = [&](const std::string& key, std::int64_t& limit) {
    const auto stated = parts.optional(key);
    if (stated && !stated->is_word("none")) limit = stated->integer(1, kMostTokens);
  };
  bound("context", limits.context);
  bound("input", limits.input);
  bound("output", limits.output);
  parts.finish();
}

void load_contract(const YamlNode& node, LogicalModel& model) {
  ServiceContract& contract = model.contract;
  MappingReader reader(node);
  if (const auto schema = reader.optional("schema")) contract.schema = schema->text();
  if (const auto streaming = reader.optional("streaming")) contract.streaming = streaming->boolean();
  if (const auto cancellation = reader.optional("cancellation")) contract.cancellation = cancellation->boolean();
  if (const auto limits = reader.optional("limits")) load_limits(*limits, model);
  if (const auto too_long = reader.optional("on_too_long")) {
    model.on_too_long = static_cast<TooLong>(too_long->choice({"reject", "truncate"}));
  }
  if (const auto handling = reader.optional("data_handling")) contract.data_handling = load_data_handling(*handling);
  const auto classes = reader.optional("classes");
  if (classes) {
    for (const auto& [name, cls] : classes->entries()) {
      if (name.empty()) cls.fail("a name cannot be empty");
      model.classes.push_back(load_class(name, cls));
    }
    check_data_handling(*classes, model);
  }
  if (const auto errors = reader.optional("errors")) contract.errors = load_errors(*errors);
  if (classes) keep_promised_retries(*classes, model);
  if (const auto metadata = reader.optional("metadata")) contract.metadata = load_metadata(*metadata);
  if (const auto cost = reader.optional("cost")) contract.cost = load_cost(*cost);
  if (const auto pool = reader.optional("compatibility_pool")) contract.compatibility_pool = pool->text();
  reader.not_modelled_yet({"retry"});
  reader.finish();
  check_promises(reader, classes.value_or(node), model);
}

}  // namespace poolcast
