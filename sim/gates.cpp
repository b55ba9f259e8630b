// SPDX-License-Identifier: Apache-2.0
#include "sim/gates.h"

#include <algorithm>

#include "sim/schedulers/registry.h"

namespace poolcast {

const char* name(Gate gate) {
  static constexpr const char* kNames[kGates] = {"model", "artifact", "limits", "evaluation", "capacity", "economics"};
  return kNames[static_cast<std::size_t>(gate)];
}

Gate gate_of(Reason reason) {
  switch (reason) {
    case Reason::kExperimental:
    case Reason::kBatchOnly:
    case Reason::kCanary:
    case Reason::kRetired:
      return Gate::kArtifact;
    case Reason::kContextLimit:
    case Reason::kInputLimit:
    case Reason::kOutputLimit:
    case Reason::kShape:
    case Reason::kKvCapacity:
    case Reason::kTokenBudget:
      return Gate::kLimits;
    case Reason::kEvaluationMissing:
    case Reason::kEvaluationSamples:
    case Reason::kBelowThreshold:
    case Reason::kNotConfident:
      return Gate::kEvaluation;
    case Reason::kQueueFull:
    case Reason::kReplicasStalled:
    case Reason::kCoolingDown:
    case Reason::kSaturated:
    case Reason::kQueueTimeout:
    case Reason::kStalled:
      return Gate::kCapacity;
    case Reason::kPriceUnknown:
    case Reason::kCostLimit:
    case Reason::kCostMargin:
      return Gate::kEconomics;
    default:
      return Gate::kModel;
  }
}

Reason GateVerdicts::first() const {
  const auto failed = std::find_if(reasons.begin(), reasons.end(), [](Reason r) { return r != Reason::kNone; });
  return failed == reasons.end() ? Reason::kNone : *failed;
}

Reason nearer(Reason first, Reason second) {
  const auto rank = [](Reason reason) {
    const Gate gate = gate_of(reason);
    return gate == Gate::kCapacity ? 2 : gate == Gate::kLimits ? 1 : 0;
  };
  return rank(second) >= rank(first) ? second : first;
}

// ---------------------------------------------------------------- tables

Gates::Gates(const SimulationSpec& spec)
    : spec_(spec),
      pools_(spec.pools.size()),
      entries_(spec.classes.size() * spec.pools.size()),
      counts_(entries_.size()),
      compatibility_(spec.classes.size()),
      nobody_(spec.classes.size()) {
  for (std::size_t c = 0; c < spec.classes.size(); ++c) {
    for (const ModelSpec& model : spec.models) {
      for (const ImplementationSpec& implementation : model.implementations) {
        entries_[row(ClassId(c), implementation.pool)] = make_entry(spec.classes[c], model, implementation);
      }
    }
    longest_.push_back(find_longest(ClassId(c)));
  }
  for (Entry& entry : entries_) {
    if (entry.implementation == nullptr) entry.fixed.fill(Reason::kOtherModel);  // nobody serves anything there
  }
}

Gates::Entry Gates::make_entry(const ClassSpec& cls, const ModelSpec& serves,
                               const ImplementationSpec& implementation) const {
  Entry entry;
  entry.implementation = &implementation;
  entry.engine = &spec_.pools[implementation.pool.value].engine;
  for (int v = 0; v < kVias; ++v) {
    const auto via = static_cast<Via>(v);
    const bool evidence = via != Via::kMirror && via != Via::kCompatibility;
    Reason& fixed = entry.fixed[static_cast<std::size_t>(v)];
    fixed = model_gate(cls, serves, implementation, via);
    if (fixed == Reason::kNone) fixed = artifact_gate(cls, implementation, via);
    if (fixed == Reason::kNone && evidence) fixed = implementation.evaluation;
    if (fixed == Reason::kNone && evidence) fixed = implementation.economics;
  }
  return entry;
}

Reason Gates::model_gate(const ClassSpec& cls, const ModelSpec& serves, const ImplementationSpec& implementation,
                         Via via) const {
  const ModelSpec& model = spec_.models[cls.model.value];
  if (&model != &serves && via != Via::kFallback) return Reason::kOtherModel;
  const PoolId pool = implementation.pool;
  if (std::find(cls.barred.begin(), cls.barred.end(), pool) != cls.barred.end()) return Reason::kDataHandling;
  if (model.streaming && !implementation.streams) return Reason::kNoStreaming;
  if (model.cancellation && !implementation.cancels) return Reason::kNoCancellation;
  return Reason::kNone;
}

Reason Gates::artifact_gate(const ClassSpec& cls, const ImplementationSpec& implementation, Via via) const {
  const ImplementationStatus status = implementation.status;
  if (status == ImplementationStatus::kRetired) return Reason::kRetired;
  if (via == Via::kMirror || via == Via::kCompatibility) return Reason::kNone;
  if (status == ImplementationStatus::kExperimental) return Reason::kExperimental;
  if (status == ImplementationStatus::kBatchOnly && !cls.batch) return Reason::kBatchOnly;
  const auto& weights = spec_.routing.gateway.weights;
  const bool weighed = !weights.empty() && weights[implementation.pool.value] > 0;
  if (status == ImplementationStatus::kCanary && !weighed && via != Via::kMove) return Reason::kCanary;
  return Reason::kNone;
}

std::int64_t Gates::find_longest(ClassId cls) const {
  const ModelSpec& model = spec_.models[spec_.classes[cls.value].model.value];
  std::int64_t open = 0, any = 0;
  for (const ImplementationSpec& implementation : model.implementations) {
    if (spec_.pools[implementation.pool.value].role == PoolRole::kPrefill) continue;
    const Entry& entry = entries_[row(cls, implementation.pool)];
    std::int64_t longest = std::min(implementation.context_limit, max_context(*entry.engine));
    std::int64_t shape = implementation.shapes.empty() ? INT64_MAX : 0;
    for (const CompiledShape& compiled : implementation.shapes) shape = std::max(shape, compiled.context);
    longest = std::min(longest, shape);
    any = std::max(any, longest);
    const auto may = [&](Via via) { return entry.fixed[static_cast<std::size_t>(via)] == Reason::kNone; };
    const bool last = implementation.pool == model.compatibility && may(Via::kCompatibility);
    if (may(Via::kGateway) || may(Via::kMove) || last) open = std::max(open, longest);
  }
  return std::min(open > 0 ? open : any, model.context_limit);
}

// ---------------------------------------------------------------- judging

Reason Gates::by_size(const Entry& entry, std::int64_t prompt, std::int64_t output) {
  const ImplementationSpec& limits = *entry.implementation;
  if (prompt + output > limits.context_limit) return Reason::kContextLimit;
  if (prompt > limits.input_limit) return Reason::kInputLimit;
  if (output > limits.output_limit) return Reason::kOutputLimit;
  const auto& shapes = limits.shapes;
  const auto covers = [&](const CompiledShape& shape) { return shape.covers(prompt, output); };
  if (!shapes.empty() && std::none_of(shapes.begin(), shapes.end(), covers)) return Reason::kShape;
  return poolcast::refusal(*entry.engine, prompt, output);
}

Reason Gates::outside_contract(const RequestRecord& request) const {
  const ModelSpec& model = spec_.models[request.model.value];
  if (request.output_target > model.output_limit) return Reason::kOutputLimit;
  if (request.prompt_tokens > model.input_limit) return Reason::kInputLimit;
  return request.prompt_tokens + request.output_target > model.context_limit ? Reason::kContextLimit : Reason::kNone;
}

GateVerdicts Gates::judge_all(const RequestRecord& request, PoolId pool, bool has_room, Via via) const {
  GateVerdicts verdicts;
  const auto set = [&](Gate gate, Reason reason) { verdicts.reasons[static_cast<std::size_t>(gate)] = reason; };
  const Entry& entry = entries_[row(request.cls, pool)];
  if (entry.implementation == nullptr) {
    set(Gate::kModel, Reason::kOtherModel);
    return verdicts;
  }
  const ImplementationSpec& implementation = *entry.implementation;
  const ClassSpec& cls = spec_.classes[request.cls.value];
  const auto serves = std::find_if(spec_.models.begin(), spec_.models.end(), [&](const ModelSpec& model) {
    return std::any_of(model.implementations.begin(), model.implementations.end(),
                       [&](const ImplementationSpec& i) { return i.pool == pool; });
  });
  const bool evidence = via != Via::kMirror && via != Via::kCompatibility;
  const bool prefill = spec_.pools[pool.value].role == PoolRole::kPrefill;
  const Reason contract = outside_contract(request);
  set(Gate::kModel, model_gate(cls, *serves, implementation, via));
  set(Gate::kArtifact, artifact_gate(cls, implementation, via));
  set(Gate::kLimits, contract != Reason::kNone
                         ? contract
                         : by_size(entry, request.prompt_tokens, prefill ? 1 : request.output_target));
  if (evidence) set(Gate::kEvaluation, implementation.evaluation);
  if (!has_room) set(Gate::kCapacity, Reason::kQueueFull);
  if (evidence) set(Gate::kEconomics, implementation.economics);
  return verdicts;
}

GateReport Gates::report() const {
  GateReport report;
  const std::size_t pools = spec_.pools.size();
  for (std::size_t c = 0; c < spec_.classes.size(); ++c) {
    const auto first = counts_.begin() + static_cast<std::ptrdiff_t>(c * pools);
    report.counts.emplace_back(first, first + static_cast<std::ptrdiff_t>(pools));
  }
  report.compatibility = compatibility_;
  report.nobody = nobody_;
  return report;
}

}  // namespace poolcast
