// SPDX-License-Identifier: Apache-2.0
#include "scenarios/build_gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/gates.h"
#include "sim/schedulers/registry.h"

namespace poolcast {
namespace {

std::optional<Dollars> incumbent_cost(const Scenario& scenario, std::size_t m, const SimulationSpec& spec) {
  const LogicalModel& model = scenario.models[m];
  const CostRule& rule = *model.contract.cost;
  const auto serves = [&](const PoolEntry& pool, std::size_t implementation) {
    return pool.model == m && pool.implementation == implementation && pool.role != PoolRole::kPrefill;
  };
  for (std::size_t i = 0; i < model.implementations.size(); ++i) {
    for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
      if (!serves(scenario.pools[p], i)) continue;
      const bool is_incumbent = rule.incumbent.empty()
                                    ? model.implementations[i].status == ImplementationStatus::kProduction
                                    : rule.incumbent == scenario.pools[p].name;
      if (is_incumbent) return assumed_cost(rule, scenario.pools[p], spec.pools[p]);
    }
  }
  return std::nullopt;
}

/// A pool that only prefills has no cost per output of its own.
Reason judge_cost(const CostRule& rule, const PoolEntry& entry, const PoolSpec& pool,
                  const std::optional<Dollars>& incumbent) {
  if (entry.role == PoolRole::kPrefill) return Reason::kNone;
  const auto cost = assumed_cost(rule, entry, pool);
  if (!cost || (rule.margin && !incumbent)) return Reason::kPriceUnknown;
  if (rule.per_million_tokens && *cost > *rule.per_million_tokens) return Reason::kCostLimit;
  if (rule.margin && *cost > *incumbent * (1 + *rule.margin)) return Reason::kCostMargin;
  return Reason::kNone;
}

bool may_see(const DataHandling& handling, const PoolEntry& pool) {
  const auto names = [](const std::vector<std::string>& list, const std::string& name) {
    return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
  };
  return names(handling.regions, pool.region) && names(handling.pools, pool.name);
}

void build_classes(const Scenario& scenario, std::size_t m, ClassSpec* classes) {
  const LogicalModel& model = scenario.models[m];
  for (std::size_t c = 0; c < model.classes.size(); ++c) {
    const ClassEntry& entry = model.classes[c];
    ClassSpec& cls = classes[c];
    cls.availability = entry.availability;
    cls.batch = entry.batch;
    for (const DataHandling& handling : model.contract.data_handling) {
      if (handling.name != entry.data_handling) continue;
      for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
        if (!may_see(handling, scenario.pools[p])) cls.barred.push_back(PoolId(p));
      }
    }
  }
}

void build_implementation(const Scenario& scenario, const LogicalModel& model, const std::optional<Dollars>& incumbent,
                          const SimulationSpec& spec, ImplementationSpec& implementation) {
  const PoolEntry& pool = scenario.pools[implementation.pool.value];
  const ImplementationEntry& entry = model.implementations[pool.implementation];
  implementation.input_limit = entry.limits.input;
  implementation.output_limit = entry.limits.output;
  implementation.shapes = entry.shapes;
  implementation.status = entry.status;
  implementation.streams = entry.streaming;
  implementation.cancels = entry.cancellation;
  implementation.evaluation = judge_evaluations(model, entry);
  if (!model.contract.cost) return;
  implementation.economics = judge_cost(*model.contract.cost, pool, spec.pools[implementation.pool.value], incumbent);
}

bool states_gates(const LogicalModel& model) {
  const ServiceContract& contract = model.contract;
  if (model.threshold || contract.cost || !contract.data_handling.empty() || !contract.compatibility_pool.empty() ||
      contract.streaming || contract.cancellation) {
    return true;
  }
  return std::any_of(model.implementations.begin(), model.implementations.end(), [](const ImplementationEntry& entry) {
    return entry.status != ImplementationStatus::kProduction || !entry.shapes.empty() || !entry.evaluations.empty() ||
           entry.limits.input != INT64_MAX || entry.limits.output != INT64_MAX;
  });
}

/// Requests of a class that no implementation may serve, whatever their size, are all refused.
void note_nobody(const SimulationSpec& spec, std::vector<std::string>& notes) {
  const Gates gates(spec);
  for (std::size_t c = 0; c < spec.classes.size(); ++c) {
    const ModelSpec& model = spec.models[spec.classes[c].model.value];
    RequestRecord request;
    request.cls = ClassId(c);
    request.model = spec.classes[c].model;
    std::string why;
    bool served = false;
    for (const ImplementationSpec& implementation : model.implementations) {
      if (spec.pools[implementation.pool.value].role == PoolRole::kPrefill) continue;
      const Reason reason = gates.refusal(request, implementation.pool, 0);
      served |= reason == Reason::kNone || gate_of(reason) == Gate::kLimits;
      why += fmt::format("{}{} {}", why.empty() ? "" : ", ", spec.pools[implementation.pool.value].name, name(reason));
    }
    if (served) continue;
    notes.push_back(fmt::format("No implementation may serve class {} of {} ({}){}.", spec.classes[c].name, model.name,
                                why, model.compatibility.valid() ? "; all of it goes to the compatibility pool" : ""));
  }
}

}  // namespace

std::optional<Dollars> assumed_cost(const CostRule& rule, const PoolEntry& entry, const PoolSpec& pool) {
  if (!entry.price_per_device) return std::nullopt;
  const std::int64_t batch = std::max<std::int64_t>(1, std::min(rule.batch, max_running(pool.engine)));
  const PrefillChunk chunk{rule.prompt_tokens, 0};
  StepShape prefill;
  prefill.tokens = rule.prompt_tokens;
  prefill.sampled = 1;
  prefill.prefill = {&chunk, 1};
  StepShape decode;
  decode.tokens = decode.sampled = decode.decode_requests = batch;
  decode.decode_context = batch * (rule.prompt_tokens + rule.output_tokens / 2);
  const auto output = static_cast<double>(rule.output_tokens);
  const double seconds =
      (pool.curve->step(prefill).value + output * pool.curve->step(decode).value / static_cast<double>(batch)) /
      static_cast<double>(pool.ranks);
  return Dollars(pool.price_per_replica.value / 3600 * seconds / output * 1e6);
}

Reason judge_evaluations(const LogicalModel& model, const ImplementationEntry& entry) {
  if (model.threshold) {
    const EvaluationResult* const result = newest_result(entry.evaluations, model.suite);
    const Reason reason = judge_evaluation(result, *model.threshold, model.confidence);
    if (reason != Reason::kNone) return reason;
  }
  for (const EvaluationResult& result : entry.evaluations) {
    const std::string& suite = result.suite.empty() ? model.suite : result.suite;
    if (!result.threshold || newest_result(entry.evaluations, suite) != &result) continue;
    const Reason reason = judge_evaluation(&result, *result.threshold, model.confidence);
    if (reason != Reason::kNone) return reason;
  }
  return Reason::kNone;
}

void build_gates(const Scenario& scenario, SimulationSpec& spec, std::vector<std::string>& notes) {
  std::size_t first_class = 0;
  for (std::size_t m = 0; m < scenario.models.size(); ++m) {
    const LogicalModel& entry = scenario.models[m];
    ModelSpec& model = spec.models[m];
    model.input_limit = entry.input_limit;
    model.streaming = entry.contract.streaming.value_or(false);
    model.cancellation = entry.contract.cancellation.value_or(false);
    for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
      if (scenario.pools[p].name == entry.contract.compatibility_pool) model.compatibility = PoolId(p);
    }
    std::optional<Dollars> incumbent;
    if (entry.contract.cost && entry.contract.cost->margin) incumbent = incumbent_cost(scenario, m, spec);
    for (ImplementationSpec& implementation : model.implementations) {
      build_implementation(scenario, entry, incumbent, spec, implementation);
    }
    build_classes(scenario, m, spec.classes.data() + first_class);
    first_class += entry.classes.size();
    spec.gated |= states_gates(entry);
  }
  if (spec.gated) note_nobody(spec, notes);
}

}  // namespace poolcast
