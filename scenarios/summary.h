// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/cost.h"
#include "models/units.h"
#include "scenarios/curve_file.h"
#include "scenarios/gateway_summary.h"
#include "scenarios/move_summary.h"
#include "sim/report.h"
#include "sim/spec.h"

/// The figures that a reader of a run sees, computed from the Report and what the scenario says. summary_text.h and
/// summary_json.h write them; scenarios/summary.md describes them.
namespace poolcast {

struct Telemetry;

/// Of a calibration file.
struct CurveFacts {
  std::string digest;
  std::vector<TermError> errors;  ///< on shapes that were held out
};

/// What a summary says of a pool besides its measures.
struct PoolFacts {
  std::string name;
  std::string model;
  std::string accelerator;
  std::string engine;  ///< kind and version
  std::int64_t replicas = 1;
  std::int64_t devices_per_replica = 1;
  std::optional<DollarsPerHour> price_per_device;
  std::string curve;                     ///< its provenance
  std::string unit = "tokens";           ///< of accepted output
  const Telemetry* telemetry = nullptr;  ///< by the engine's own names; null: none is known
  std::int64_t ranks = 1;                ///< data-parallel, of a replica
  std::optional<CurveFacts> measured{};
};

/// What a summary says of the run besides its measures. Names are by id.
struct RunFacts {
  std::string version;
  std::string scenario;  ///< file name without folder; shown in the text only
  std::string scenario_digest;
  std::uint64_t seed = 0;
  std::vector<std::string> models;
  std::vector<std::string> units;  ///< of accepted output, by model: "tokens", "embeddings", …
  std::vector<ClassSpec> classes;
  std::vector<PoolFacts> pools;
  std::vector<MoveFacts> moves;
  GatewayRules gateway;
  /// By name, as contracts state it, then by pool (empty where the contract of the pool's model does not tell it).
  std::vector<std::pair<std::string, std::vector<std::string>>> metadata;
  bool gated = false;                      ///< the scenario states gates
  std::vector<std::string> compatibility;  ///< pool, by model; empty: none
  std::vector<std::string> notes;          ///< found while the scenario was read
  std::vector<std::string> fidelity;       ///< how finely each part is modelled
};

/// Requests and their latencies, and the rates that follow. Rates are over the measured interval, empty when it has no
/// length.
struct GroupSummary {
  std::string name;
  std::string model;  ///< of a class
  std::string unit;   ///< of a model's output
  Outcomes outcomes;
  Latencies latencies;
  std::optional<double> requests_per_s;  ///< completed
  std::optional<double> prompt_tokens_per_s;
  std::optional<double> output_tokens_per_s;
  std::optional<double> goodput_requests_per_s;  ///< accepted
  std::optional<double> goodput_share;           ///< accepted / offered: what failed in any way counts as a miss
};

/// How one objective of a class fared. A request that did not complete counts as one without end, so it misses; for
/// ITL, whose samples are gaps, only what completed counts.
struct ObjectiveSummary {
  Objective objective;
  std::optional<SimTime> achieved;  ///< at the objective's percentile; empty when that falls on an unfinished request
  std::optional<double> share_within;  ///< at most the limit; empty when there is no sample
  std::optional<bool> met;             ///< achieved <= limit; empty when there is no sample
};

struct ClassSummary {
  GroupSummary group;
  std::vector<ObjectiveSummary> objectives;
  std::optional<double> availability;    ///< completed / offered; empty when nothing was offered
  std::optional<bool> availability_met;  ///< empty as well where the contract promises none
};

/// What a replica, or all replicas of a pool, did over the whole run, warm-up included. Means are over steps, not over
/// time, and empty when there was no step.
struct ReplicaUse {
  std::uint64_t requests = 0;  ///< routed to it
  std::uint64_t completed = 0;
  std::uint64_t steps = 0;
  std::uint64_t leaps = 0;
  double busy_share = 0;               ///< of the time from the first arrival to the last end
  std::optional<double> bubble_share;  ///< of the busy time: for how much of it an average stage of a pipeline is idle
  std::optional<double> mean_batch;
  std::int64_t running_max = 0;
  std::int64_t waiting_max = 0;
  std::optional<double> kv_use_mean;  ///< share of the usable blocks
  std::optional<double> kv_use_max;
  std::uint64_t preemptions = 0;
  std::int64_t scheduled_tokens = 0;
  std::int64_t recomputed_tokens = 0;
  std::optional<double> recompute_tax;    ///< recomputed / scheduled tokens
  std::int64_t prefix_query_tokens = 0;   ///< of admitted requests, outputs of resumed ones included
  std::int64_t prefix_hit_tokens = 0;     ///< of those, found in the prefix cache
  std::optional<double> prefix_hit_rate;  ///< hit / query tokens; empty without a prefix cache
  std::int64_t host_hit_tokens = 0;       ///< beside those, loaded from the host
  std::int64_t padded_tokens = 0;         ///< computed beside the scheduled ones, to fill a shape
  std::int64_t wasted_tokens = 0;         ///< computed beside them for requests that had ended already
  std::int64_t drafted_tokens = 0;        ///< drafts that were checked (speculative decoding)
  std::int64_t accepted_draft_tokens = 0;
  std::int64_t rejected_tokens = 0;        ///< computed beside the scheduled ones for drafts that were thrown away
  std::optional<double> tokens_per_check;  ///< brought by a step to a request whose drafts it checks: accepted ones + 1
  std::int64_t compiled_programs = 0;      ///< while requests waited for them
  std::optional<double> padding_waste;     ///< padded / (scheduled + padded) tokens; empty where nothing is padded
  /// Faults of the engine that were left out or met (`fidelity`), and how often: "preempted requests were lost …".
  std::vector<std::pair<std::string, std::int64_t>> departures;
  std::optional<double> extrapolated_step_share;  ///< of its steps, outside the range that the curve was measured on
  bool stalled = false;
};

struct PoolSummary {
  PoolFacts facts;
  GroupSummary group;
  CostLine cost;
  std::optional<Dollars> per_million_output_tokens;  ///< in the unit of the pool's model
  ReplicaUse use;                                    ///< all replicas together; maxima are those of the fullest replica
  std::vector<ReplicaUse> replicas;
  FlowReport flow;  ///< of the queue before it; the whole run
};

/// A sentence for the reader. A warning says that a figure must not be taken at face value.
struct Note {
  bool warning = false;
  std::string text;
};

struct Summary {
  RunFacts facts;
  GroupSummary total;
  std::vector<ClassSummary> classes;  ///< by ClassId
  std::vector<GroupSummary> models;   ///< by ModelId
  std::vector<PoolSummary> pools;     ///< by PoolId
  std::vector<MoveSummary> moves;
  GateReport gates;
  GatewaySummary gateway;
  CostReport cost;                  ///< over the measured interval
  std::optional<std::string> unit;  ///< of the output that the cost is divided by; empty when models differ in it
  std::vector<Note> notes;          ///< warnings first
  std::optional<double> extrapolated_step_share;
  std::uint64_t stalled_replicas = 0;

  SimTime measured_begin = 0;
  SimTime measured_end = 0;
  std::uint64_t warm_up_requests = 0;
  std::uint64_t skipped_rows = 0;
  std::uint64_t unsent_requests = 0;
  std::uint64_t truncated_requests = 0;
  bool has_prefix_data = false;
  std::uint64_t host_loads = 0;  ///< of KV from hosts
  double host_loaded_bytes = 0;
  std::optional<double> mean_host_load_s;
  std::uint64_t transfers = 0;  ///< of KV between pools
  double transferred_bytes = 0;
  std::optional<double> mean_transfer_s;
  std::int64_t prefix_tokens = 0;        ///< prompt tokens of the sources that have prefix data
  std::optional<double> ideal_hit_rate;  ///< of those, what an endless cache shared by all replicas would find
  bool stationary = true;
  double backlog_growth_per_s = 0;
  std::vector<Window> windows;
  std::uint64_t steps = 0;
  std::uint64_t leaps = 0;
  std::uint64_t events = 0;
};

Summary summarise(const Report& report, const RunFacts& facts);

/// The sentences of a summary whose figures are set.
std::vector<Note> notes_of(const Summary& summary, const std::vector<std::string>& notes_of_engine);

}  // namespace poolcast
