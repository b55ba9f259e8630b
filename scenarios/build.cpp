// SPDX-License-Identifier: Apache-2.0
#include "scenarios/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/error.h"
#include "scenarios/build_gates.h"
#include "scenarios/build_gateway.h"
#include "scenarios/build_moves.h"
#include "scenarios/engines/engine_kind.h"
#include "scenarios/load_parts.h"
#include "scenarios/resolve.h"

namespace poolcast {
namespace {

/// Kernels are measured at the tokens that they are given; on GPUs an engine pads them to the graphs that it captured.
std::shared_ptr<const StepCurve> make_measured(const CurveFile& file, const PoolEntry& pool) {
  const CurveIdentity& id = file.identity;
  KernelTables tables = *file.curve;
  const EngineKind& kind = *engine_kind(pool.engine.kind);
  if (kind.capture_sizes != nullptr && pool.accelerator.kind == DeviceKind::kGpu)
    tables.capture_sizes = kind.capture_sizes(pool.engine.settings);
  tables.kind = id.origin;
  tables.source = fmt::format("{} on {} tp {}, {} weights, {} KV, {}, {} clock; {}; {}; sha256:{}", id.shape.name,
                              id.device, id.layout.tp, name(id.weights), name(id.kv), id.implementation, id.clock,
                              tables.source, error_band(file.errors), file.digest.substr(0, 12));
  return make_kernel_table_curve(std::move(tables));
}

std::shared_ptr<const StepCurve> make_curve(const PoolEntry& pool, const LogicalModel& model) {
  try {
    if (const auto* const fit = std::get_if<StepFit>(&pool.curves)) return make_step_fit(*fit);
    if (const auto* const measured = std::get_if<MeasuredCurve>(&pool.curves))
      return make_measured(*measured->content, pool);
    if (!model.shape) {
      deepest(pool.at, {"curves"})
          .fail(fmt::format("a roofline needs the shape of model {}, and it has none", quote(model.name)));
    }
    return make_roofline(pool.accelerator, *model.shape, pool.layout, std::get<RooflineOptions>(pool.curves));
  } catch (const MissingFigure& missing) {
    deepest(pool.at, {"accelerator"}).fail(missing.what());
  } catch (const UnsupportedLayout& layout) {
    degree_of(pool.at, layout.what()).fail(layout.what());
  } catch (const ModelError& error) {
    deepest(pool.at, {"curves"}).fail(error.what());
  }
}

bool has_one_answer(Task task) { return task == Task::kEmbed || task == Task::kImage; }

/// The longest sequence in the units of the simulation, which counts an answer as one token more. The length of a job
/// has nothing to do with that of a sequence.
std::int64_t limit_for(Task task, std::int64_t limit) {
  if (task == Task::kTrain) return INT64_MAX;
  return has_one_answer(task) && limit < INT64_MAX ? limit + 1 : limit;
}

EngineArgs build_engine(const EngineEntry& entry, const Layout& layout, Task task) {
  const EngineKind& kind = *engine_kind(entry.kind);
  EngineArgs args = entry.settings.args;
  std::int64_t& longest = kind.context(args);
  if (task == Task::kTrain) longest = INT64_MAX / 2;
  // Engines of one pass count their answer themselves (max_context of sim/schedulers/registry.h).
  if (has_one_answer(task) && kind.carries(Task::kGenerate)) ++longest;
  if (layout.pp > 1) kind.widen(args, layout.pp);
  return args;
}

PoolSpec build_pool(const PoolEntry& entry, const LogicalModel& model) {
  PoolSpec pool;
  pool.name = entry.name;
  pool.replicas = entry.replicas;
  pool.devices_per_replica = static_cast<std::int32_t>(entry.layout.devices());
  pool.curve = make_curve(entry, model);
  pool.engine = build_engine(entry.engine, entry.layout, model.task);
  pool.ranks = static_cast<std::int32_t>(entry.layout.dp);
  if (pool.ranks > 1) pool.balancer.name = engine_kind(entry.engine.kind)->balancer(entry.engine.settings);
  pool.max_pending_requests = entry.max_pending_requests;
  pool.labels = entry.labels;
  pool.model_context_limit = model.context_limit;
  pool.model_output_limit = model.output_limit;
  pool.role = entry.role;
  pool.host_bandwidth = entry.host_bandwidth.value_or(BytesPerSecond(0));
  if ((entry.role != PoolRole::kBoth || entry.host_bandwidth) && model.shape) {
    pool.kv_bytes_per_token = kv_bytes_per_token(*model.shape, entry.kv_precision).value;
  }
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
    model.context_limit = limit_for(entry.task, entry.context_limit);
    model.output_limit = has_one_answer(entry.task) ? 1 : entry.output_limit;
    model.on_too_long = entry.on_too_long;
    for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
      const PoolEntry& pool = scenario.pools[p];
      if (pool.model != m) continue;
      const std::int64_t limit = entry.implementations[pool.implementation].limits.context;
      model.implementations.push_back({PoolId(p), limit_for(entry.task, limit)});
    }
    spec.models.push_back(std::move(model));
    for (const ClassEntry& cls : entry.classes) {
      spec.classes.push_back({cls.name, ModelId(m), cls.priority, cls.timeout, cls.patience, cls.objectives});
      spec.classes.back().retry = cls.retry;
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

/// What a layout leaves out.
void add_layout_fidelity(const Scenario& scenario, std::vector<std::string>& left_out) {
  bool pipeline = false, ranks = false, exchange = false;
  for (const PoolEntry& pool : scenario.pools) {
    pipeline |= pool.layout.pp > 1;
    ranks |= pool.layout.dp > 1;
    exchange |= pool.layout.experts_across_ranks();
  }
  if (pipeline) {
    left_out.emplace_back(
        "pipelines: requests are split evenly over micro-batches, and what follows a chunk waits for the next round");
  }
  if (ranks)
    left_out.emplace_back("data parallelism: the internal balancer sees the counts of its ranks without delay");
  if (exchange) {
    left_out.emplace_back(
        "expert parallelism: ranks do not wait for each other; the experts of each are timed as if all ranks had its "
        "load");
  }
}

/// What the models of the engines leave out, each kind once.
std::vector<std::string> fidelity(const Scenario& scenario) {
  std::vector<std::string> left_out;
  for (const std::string_view name : engine_kind_names()) {
    const auto is_used = [&](const PoolEntry& pool) { return pool.engine.kind == name; };
    if (std::none_of(scenario.pools.begin(), scenario.pools.end(), is_used)) continue;
    for (const std::string_view sentence : engine_kind(name)->left_out) {
      left_out.push_back(fmt::format("{}: {}", name, sentence));
    }
  }
  add_layout_fidelity(scenario, left_out);
  for (const LogicalModel& model : scenario.models) {
    if (model.task != Task::kTrain) continue;
    left_out.push_back(
        fmt::format("{}: checkpoints, input and the exchange between devices are in the time of a step", model.name));
  }
  return left_out;
}

PoolFacts pool_facts(const PoolEntry& entry, const LogicalModel& model, const StepCurve& curve) {
  PoolFacts facts;
  facts.name = entry.name;
  facts.model = model.name;
  facts.accelerator = entry.accelerator.name;
  facts.unit = unit(model.task);
  facts.engine = entry.engine.kind + " " + entry.engine.version;
  const EngineKind& kind = *engine_kind(entry.engine.kind);
  facts.telemetry = &kind.telemetry_of(entry.engine.settings.args);
  facts.replicas = entry.replicas;
  facts.ranks = entry.layout.dp;
  facts.devices_per_replica = entry.layout.devices();
  facts.price_per_device = entry.price_per_device;
  facts.curve = curve.provenance();
  if (const auto* const measured = std::get_if<MeasuredCurve>(&entry.curves)) {
    facts.measured = CurveFacts{"sha256:" + measured->content->digest, measured->content->errors};
  }
  return facts;
}

std::string metadata_of(const std::string& what, const PoolEntry& pool, const LogicalModel& model) {
  const ImplementationEntry& entry = model.implementations[pool.implementation];
  if (what == "pool") return pool.name;
  if (what == "artifact") {
    return entry.artifact.digest.empty() ? entry.artifact.name : entry.artifact.name + "@" + entry.artifact.digest;
  }
  if (what == "version") return model.version;
  if (what == "status") return name(entry.status);
  return what == "accelerator" ? pool.accelerator.name : pool.region;
}

void add_metadata(const Scenario& scenario, RunFacts& facts) {
  for (const std::string_view what : metadata_names()) {
    std::vector<std::string> by_pool;
    bool any = false;
    for (const PoolEntry& pool : scenario.pools) {
      const LogicalModel& model = scenario.models[pool.model];
      const auto& told = model.contract.metadata;
      const bool tells = std::find(told.begin(), told.end(), what) != told.end();
      by_pool.push_back(tells ? metadata_of(std::string(what), pool, model) : "");
      any |= tells;
    }
    if (any) facts.metadata.emplace_back(what, std::move(by_pool));
  }
}

RunFacts run_facts(const Scenario& scenario) {
  RunFacts facts;
  facts.version = POOLCAST_VERSION;
  facts.scenario = scenario.name.substr(scenario.name.find_last_of('/') + 1);
  facts.scenario_digest = "sha256:" + scenario_digest(scenario);
  facts.seed = scenario.seed;
  for (const LogicalModel& model : scenario.models) {
    facts.models.push_back(model.name);
    facts.units.push_back(unit(model.task));
    facts.compatibility.push_back(model.contract.compatibility_pool);
  }
  add_metadata(scenario, facts);
  facts.notes = scenario.notes;
  facts.fidelity = fidelity(scenario);
  return facts;
}

}  // namespace

BuiltScenario build(const Scenario& scenario) {
  BuiltScenario built;
  SimulationSpec& spec = built.spec;
  built.facts = run_facts(scenario);
  spec.seed = scenario.seed;
  spec.measure = scenario.measure;
  for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
    spec.routing.pool.push_back(
        {scenario.routing.pool_policies[p], {}, scenario.routing.pool_pickers[p], scenario.routing.pool_signals[p]});
  }
  for (const PoolEntry& pool : scenario.pools) {
    const LogicalModel& model = scenario.models[pool.model];
    spec.pools.push_back(build_pool(pool, model));
    spec.pools.back().node = static_cast<std::uint32_t>(spec.pools.size() - 1);
    built.facts.pools.push_back(pool_facts(pool, model, *spec.pools.back().curve));
  }
  build_gateway(scenario, spec);
  spec.topology = scenario.topology.graph(scenario.pools);
  build_models(scenario, spec);
  build_gates(scenario, spec, built.facts.notes);
  built.facts.gated = spec.gated;
  built.facts.classes = spec.classes;
  built.facts.gateway = spec.routing.rules;
  build_moves(scenario, built);
  for (std::size_t i = 0; i < scenario.workload.size(); ++i) build_source(scenario, i, built);
  return built;
}

}  // namespace poolcast
