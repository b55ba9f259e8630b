// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/accelerator.h"
#include "models/kv_memory.h"
#include "models/layout.h"
#include "models/precision.h"
#include "models/roofline.h"
#include "models/step_fit.h"
#include "models/transformer.h"
#include "models/units.h"
#include "scenarios/contract.h"
#include "scenarios/curve_file.h"
#include "scenarios/engines/engine_settings.h"
#include "scenarios/task.h"
#include "scenarios/traces/trace.h"
#include "scenarios/yaml.h"
#include "sim/spec.h"
#include "sim/workload.h"

/// A scenario file as plain values: every default filled in and every rule checked (scenarios/load.h makes them,
/// scenarios/resolve.h prints them, scenarios/build.h turns them into a SimulationSpec). Names refer to entries by
/// name; `at` is where an entry stands, for messages. The format is described in scenarios/scenario_file.md.
namespace poolcast {

struct WorkloadEntry {
  std::string model;
  std::string cls;                                                        ///< of that model
  std::int32_t priority = 0;                                              ///< default: that of the class
  std::variant<TraceSpec, SynthSpec, ClosedLoopSpec, SessionsSpec> load;  ///< a trace's `file` can be opened as it is
  std::int64_t max_concurrency = INT64_MAX;
  YamlNode at;
};

struct ClassEntry {
  std::string name;
  std::int32_t priority = 0;
  SimTime timeout = kNever;
  SimTime patience = kNever;
  std::vector<Objective> objectives;
  double availability = 0;    ///< share of the offered requests that complete, at least; 0: not promised
  bool batch = false;         ///< default: whether its name is "batch"
  std::string data_handling;  ///< an entry of the contract; empty: anywhere
  RetrySpec retry{};
};

/// One artifact of a logical model on one pool.
struct ImplementationEntry {
  std::string pool;
  Artifact artifact;
  ImplementationStatus status = ImplementationStatus::kProduction;
  Precision precision = Precision::kBf16;  ///< of the linear layers' weights
  std::optional<Precision> kv_precision;   ///< nothing: by the engine's kv_cache_dtype
  LengthLimits limits;
  std::vector<CompiledShape> shapes;  ///< empty: every length
  bool streaming = true;
  bool cancellation = true;
  std::vector<EvaluationResult> evaluations;
  std::string calibration;                                    ///< file, by reference
  std::vector<std::pair<std::string, std::string>> software;  ///< name and version, drivers included
  std::vector<HistoryEntry> history;
  YamlNode at;
};

struct LogicalModel {
  std::string name;
  std::string version;  ///< empty: not stated
  Task task = Task::kGenerate;
  std::int64_t steps = 1;                 ///< passes of an image
  std::optional<TransformerShape> shape;  ///< needed by a roofline and by memory arithmetic
  ServiceContract contract;
  std::int64_t context_limit = INT64_MAX;  ///< default: the shape's
  std::int64_t input_limit = INT64_MAX;
  std::int64_t output_limit = INT64_MAX;
  TooLong on_too_long = TooLong::kReject;
  std::vector<ClassEntry> classes;  ///< at least one, `default` when the file has none
  std::string suite;
  std::optional<double> threshold;
  double confidence = 0.95;                          ///< with which a score must be above it
  std::vector<ImplementationEntry> implementations;  ///< default: every pool, at bf16
  YamlNode at;
};

struct EngineEntry {
  std::string kind;
  std::string version;
  bool offline = false;     ///< which of the engine's two sets of defaults
  EngineSettings settings;  ///< complete, the size of the KV cache included
  /// Arguments of this version that the simulation follows, in the order of the catalog.
  std::vector<std::string> modelled;
  /// Arguments that the file sets and that change nothing here, as YAML.
  std::vector<std::pair<std::string, std::string>> without_effect;

  const VllmArgs& vllm() const { return std::get<VllmArgs>(settings.args); }  ///< only of that kind
};

/// A calibration file that was read.
struct MeasuredCurve {
  std::string file;
  std::shared_ptr<const CurveFile> content;  ///< with a curve
};

using CurveSource = std::variant<RooflineOptions, StepFit, MeasuredCurve>;

struct PoolEntry {
  std::string name;
  std::string region;  ///< empty: not stated
  PoolRole role = PoolRole::kBoth;
  Accelerator accelerator;
  Layout layout;
  std::int32_t replicas = 1;
  EngineEntry engine;
  CurveSource curves;                              ///< default: a roofline with the options' own defaults
  std::optional<DollarsPerHour> price_per_device;  ///< nothing: the file says `price: none`
  std::int64_t max_pending_requests = INT64_MAX;
  /// What endpoint pickers read of a replica, by replica; empty: none.
  std::vector<std::vector<std::pair<std::string, std::string>>> labels;
  std::optional<BytesPerSecond> host_bandwidth;  ///< of a replica to its host; needed where KV is kept there

  std::size_t model = 0;           ///< index of the one logical model that it serves
  std::size_t implementation = 0;  ///< index within that model
  Precision kv_precision = Precision::kBf16;
  std::optional<KvMemory> kv_memory;  ///< the arithmetic, where it was possible
  YamlNode at;
};

/// Weights are by pool, in file order; empty means equal.
struct RoutingEntry {
  std::string gateway_policy = "round-robin";
  std::vector<double> gateway_weights;
  GatewayRules gateway_rules;                         ///< all but `price`
  std::vector<std::optional<double>> gateway_prices;  ///< by pool, stated, $ per million tokens; empty: none
  std::vector<std::string> pool_policies;             ///< by pool; default round-robin
  /// By pool: an endpoint picker that decides instead of the policy, or null.
  std::vector<std::shared_ptr<const routing::PipelineSpec>> pool_pickers;
  std::vector<SignalSpec> pool_signals;  ///< by pool; default: everything is known at once
};

/// The evaluation score of the new pool's implementation, taken as a share of its samples, must be at least the
/// threshold with this confidence: the lower end of Wilson's one-sided interval.
struct CorrectnessGate {
  double threshold = 0;
  double confidence = 0.95;
};

struct MoveEntry {
  MoveSpec spec;  ///< all but `qualified`
  std::optional<CorrectnessGate> correctness;
  std::optional<double> cost_margin;  ///< of the cost per accepted output; judged by `compare`
  YamlNode at;
};

/// What connects the pools. Nodes are the pools in file order, then the switches.
struct TopologyEntry {
  std::vector<std::string> switches;
  std::vector<Link> links;

  Topology graph(const std::vector<PoolEntry>& pools) const;
};

/// A file that was read for a scenario besides itself, its traces and its calibrations.
struct SideFile {
  std::string kind;  ///< "endpoint picker", "include"
  std::string path;  ///< under which it was opened
};

struct Scenario {
  std::string name;  ///< the file, as it was named
  std::uint64_t seed = 0;
  std::vector<WorkloadEntry> workload;
  std::vector<LogicalModel> models;
  std::vector<PoolEntry> pools;
  TopologyEntry topology;
  RoutingEntry routing;
  std::vector<MoveEntry> moves;
  MeasureSpec measure;
  std::vector<std::string> notes;  ///< what the reader of a run should know, found while loading
  std::vector<SideFile> side_files;
};

}  // namespace poolcast
