// SPDX-License-Identifier: Apache-2.0
#include "scenarios/build.h"

#include <fmt/format.h>

#include "models/error.h"
#include "scenarios/load_parts.h"
#include "scenarios/resolve.h"

namespace poolcast {
namespace {

std::shared_ptr<const StepCurve> make_curve(const PoolEntry& pool, const LogicalModel& model) {
  try {
    if (const auto* const fit = std::get_if<StepFit>(&pool.curves)) return make_step_fit(*fit);
    if (!model.shape) {
      deepest(pool.at, {"curves"})
          .fail(fmt::format("a roofline needs the shape of model {}, and it has none", quote(model.name)));
    }
    return make_roofline(pool.accelerator, *model.shape, pool.layout, std::get<RooflineOptions>(pool.curves));
  } catch (const MissingFigure& missing) {
    deepest(pool.at, {"accelerator"}).fail(missing.what());
  } catch (const UnsupportedLayout& layout) {
    deepest(pool.at, {"layout", "tp"}).fail(layout.what());
  } catch (const ModelError& error) {
    deepest(pool.at, {"curves"}).fail(error.what());
  }
}

PoolSpec build_pool(const PoolEntry& entry, const LogicalModel& model) {
  PoolSpec pool;
  pool.name = entry.name;
  pool.replicas = entry.replicas;
  pool.devices_per_replica = static_cast<std::int32_t>(entry.layout.devices());
  pool.curve = make_curve(entry, model);
  pool.engine = entry.engine.args;
  pool.max_pending_requests = entry.max_pending_requests;
  if (entry.price_per_device) {
    pool.price_per_replica = *entry.price_per_device * static_cast<double>(entry.layout.devices());
  }
  return pool;
}

void build_models(const Scenario& scenario, SimulationSpec& spec) {
  for (std::size_t m = 0; m < scenario.models.size(); ++m) {
    const LogicalModel& entry = scenario.models[m];
    ModelSpec model;
    model.name = entry.name;
    model.context_limit = entry.context_limit;
    model.output_limit = entry.output_limit;
    model.on_too_long = entry.on_too_long;
    for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
      const PoolEntry& pool = scenario.pools[p];
      if (pool.model != m) continue;
      model.implementations.push_back({PoolId(p), entry.implementations[pool.implementation].context_limit});
    }
    spec.models.push_back(std::move(model));
    for (const ClassEntry& cls : entry.classes) {
      spec.classes.push_back({cls.name, ModelId(m), cls.priority, cls.timeout, cls.patience, cls.objectives});
    }
  }
}

ClassId class_id(const Scenario& scenario, const WorkloadEntry& entry) {
  std::size_t id = 0;
  for (const LogicalModel& model : scenario.models) {
    for (const ClassEntry& cls : model.classes) {
      if (model.name == entry.model && cls.name == entry.cls) return ClassId(id);
      ++id;
    }
  }
  entry.at.fail("internal: its class was not resolved");
}

void build_source(const Scenario& scenario, std::size_t index, BuiltScenario& built) {
  constexpr const char* kKinds[] = {"trace ", "synth", "closed_loop", "sessions"};
  const WorkloadEntry& entry = scenario.workload[index];
  const std::string stream = fmt::format("workload/{}", index);
  const ClassId cls = class_id(scenario, entry);
  std::string label = fmt::format("{}/{}: {}", entry.model, entry.cls, kKinds[entry.load.index()]);
  SourceSpec source;
  source.max_concurrency = entry.max_concurrency;
  if (const auto* const trace = std::get_if<TraceSpec>(&entry.load)) {
    label += trace->file.substr(trace->file.find_last_of('/') + 1);
    for (const std::string& note : probe_trace(*trace).notes) built.facts.notes.push_back(label + ": " + note);
    source.source = make_trace_source(*trace, cls, entry.priority, scenario.seed, stream);
  } else if (const auto* const synth = std::get_if<SynthSpec>(&entry.load)) {
    source.source = make_source(*synth, cls, entry.priority, scenario.seed, stream);
  } else if (const auto* const loop = std::get_if<ClosedLoopSpec>(&entry.load)) {
    source.source = make_source(*loop, cls, entry.priority, scenario.seed, stream);
  } else {
    source.source = make_source(std::get<SessionsSpec>(entry.load), cls, entry.priority, scenario.seed, stream);
  }
  built.workload.push_back(std::move(label));
  built.spec.sources.push_back(std::move(source));
}

const std::vector<std::string>& vllm_fidelity() {
  static const std::vector<std::string> kLeftOut = {"no async scheduling: a finish is seen one step earlier",
                                                    "no speculative decoding", "no encoder inputs", "no LoRA"};
  return kLeftOut;
}

PoolFacts pool_facts(const PoolEntry& entry, const LogicalModel& model, const StepCurve& curve) {
  PoolFacts facts;
  facts.name = entry.name;
  facts.model = model.name;
  facts.accelerator = entry.accelerator.name;
  facts.engine = entry.engine.kind + " " + entry.engine.version;
  facts.replicas = entry.replicas;
  facts.devices_per_replica = entry.layout.devices();
  facts.price_per_device = entry.price_per_device;
  facts.curve = curve.provenance();
  return facts;
}

RunFacts run_facts(const Scenario& scenario) {
  RunFacts facts;
  facts.version = POOLCAST_VERSION;
  facts.scenario = scenario.name.substr(scenario.name.find_last_of('/') + 1);
  facts.scenario_digest = "sha256:" + scenario_digest(scenario);
  facts.seed = scenario.seed;
  for (const LogicalModel& model : scenario.models) facts.models.push_back(model.name);
  facts.notes = scenario.notes;
  facts.fidelity = vllm_fidelity();
  return facts;
}

}  // namespace

BuiltScenario build(const Scenario& scenario) {
  BuiltScenario built;
  SimulationSpec& spec = built.spec;
  built.facts = run_facts(scenario);
  spec.seed = scenario.seed;
  spec.measure = scenario.measure;
  spec.routing.gateway = {scenario.routing.gateway_policy, scenario.routing.gateway_weights};
  for (const std::string& policy : scenario.routing.pool_policies) spec.routing.pool.push_back({policy, {}});
  for (const PoolEntry& pool : scenario.pools) {
    const LogicalModel& model = scenario.models[pool.model];
    spec.pools.push_back(build_pool(pool, model));
    built.facts.pools.push_back(pool_facts(pool, model, *spec.pools.back().curve));
  }
  build_models(scenario, spec);
  built.facts.classes = spec.classes;
  for (std::size_t i = 0; i < scenario.workload.size(); ++i) build_source(scenario, i, built);
  return built;
}

}  // namespace poolcast
