// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/step_curve.h"
#include "models/topology.h"
#include "models/units.h"
#include "sim/gate_spec.h"
#include "sim/gateway_rules.h"
#include "sim/ids.h"
#include "sim/metric.h"
#include "sim/move_spec.h"
#include "sim/request.h"
#include "sim/retry_spec.h"
#include "sim/schedulers/engine_args.h"
#include "sim/signal_spec.h"
#include "sim/source.h"
#include "sim/time.h"

/// The finished value that a simulation is made from: every default filled in, every name resolved to an id, checked.
/// Ids index the vectors of `SimulationSpec`.
namespace poolcast {

namespace routing {
struct PipelineSpec;
}
struct DecisionLog;

/// "p99 of TTFT at most 2 s". A request is accepted when it meets the limit of every objective of its class by itself
/// (an ITL objective is judged on the mean gap, which is its TPOT); the percentile judges the class as a whole.
struct Objective {
  Metric metric = Metric::kTtft;
  double percentile = 99;
  SimTime limit = 0;
};

struct ClassSpec {
  std::string name;
  ModelId model;
  std::int32_t priority = 0;  ///< default of its requests
  SimTime timeout = kNever;   ///< the contract's limit from sent to the last token; then the request is timed out
  SimTime patience = kNever;  ///< the user cancels when no token came within this time
  std::vector<Objective> objectives;
  double availability = 0;       ///< share of its requests that complete, at least; 0: nobody promises any
  bool batch = false;            ///< implementations that are batch-only may serve it
  std::vector<PoolId> barred{};  ///< pools that must not see its requests
  RetrySpec retry{};             ///< its requests are sent again so; `timeout` is of one try, `patience` of all
};

enum class TooLong : std::uint8_t {
  kReject,    ///< a request above the limits is rejected
  kTruncate,  ///< its output, then its prompt, is cut to the limits
};

struct ImplementationSpec {
  PoolId pool;
  std::int64_t context_limit = INT64_MAX;  ///< prompt plus output, tokens
  std::int64_t input_limit = INT64_MAX;
  std::int64_t output_limit = INT64_MAX;
  std::vector<CompiledShape> shapes{};  ///< empty: every length
  ImplementationStatus status = ImplementationStatus::kProduction;
  bool streams = true;                ///< tokens as they come
  bool cancels = true;                ///< stops when its user gives up
  Reason evaluation = Reason::kNone;  ///< why it does not pass
  Reason economics = Reason::kNone;   ///< why its cost is not acceptable
};

struct ModelSpec {
  std::string name;
  std::int64_t context_limit = INT64_MAX;  ///< prompt plus output, tokens
  std::int64_t input_limit = INT64_MAX;
  std::int64_t output_limit = INT64_MAX;
  TooLong on_too_long = TooLong::kReject;
  bool streaming = false;     ///< the contract promises it
  bool cancellation = false;  ///< the same
  PoolId compatibility{};     ///< takes what no implementation may serve, and nothing else; not valid: none does
  std::vector<ImplementationSpec> implementations;
};

/// What a pool does of a request. With prefill and decode apart the prompt is computed on one pool and its KV moves to
/// another, which computes the last token of the prompt again and all others (vLLM with a KV connector that pulls).
enum class PoolRole : std::uint8_t { kBoth, kPrefill, kDecode };

/// A routing policy by its registered name; weights are by candidate index, empty for equal.
struct PolicySpec {
  std::string name = "round-robin";
  std::vector<double> weights;
  std::shared_ptr<const routing::PipelineSpec> pipeline{};  ///< of a pool: decides instead of the policy; complete
  SignalSpec signals{};                                     ///< of a pool: when its metrics are known
};

class StepExecutor;

struct PoolSpec {
  std::string name;
  PoolRole role = PoolRole::kBoth;
  std::uint32_t node = 0;         ///< its place in the topology
  double kv_bytes_per_token = 0;  ///< prefill, or with a host tier: of all layers and heads, what moves for a token
  BytesPerSecond host_bandwidth;  ///< of a replica to its host, for KV that is kept there
  std::int32_t replicas = 1;
  std::int32_t ranks = 1;  ///< data-parallel ranks of a replica: engines that each have a ReplicaId, one after another
  std::int32_t devices_per_replica = 1;  ///< of all ranks
  std::shared_ptr<const StepCurve> curve;
  std::shared_ptr<StepExecutor> executor;  ///< runs the steps on a device (one replica); null: the curve tells
  EngineArgs engine;
  PolicySpec balancer{"vllm-dplb", {}, nullptr};  ///< chooses the rank within a replica
  std::int64_t max_pending_requests =
      INT64_MAX;                     ///< per replica; one more may come while a running slot is free for it
  DollarsPerHour price_per_replica;  ///< all its devices and its share of the host
  /// What endpoint pickers read of a replica, by replica: key and value. Empty: none.
  std::vector<std::vector<std::pair<std::string, std::string>>> labels;
  std::int64_t model_context_limit = INT64_MAX;  ///< of the model that it serves, as expressions read it
  std::int64_t model_output_limit = INT64_MAX;

  VllmArgs& vllm() { return std::get<VllmArgs>(engine); }  ///< only where the engine is of this kind
};

struct RoutingSpec {
  PolicySpec gateway;            ///< chooses the pool; weights by PoolId
  std::vector<PolicySpec> pool;  ///< chooses the replica; by PoolId
  GatewayRules rules{};          ///< which pools the gateway's policy chooses from, and what comes after its choice
};

/// Which requests count: those intended at or after `warm_up`, before `until`, and not among the first
/// `warm_up_requests`. The others are simulated and logged, and left out of every measure.
struct MeasureSpec {
  SimTime warm_up = 0;
  std::uint64_t warm_up_requests = 0;
  SimTime until = kNever;
};

struct SourceSpec {
  std::unique_ptr<Source> source;
  /// Requests of this source that may be in flight at once; the client holds back the others (sent > intended).
  std::int64_t max_concurrency = INT64_MAX;
};

struct SimulationSpec {
  std::uint64_t seed = 0;
  Topology topology;  ///< needed where a pool has the role prefill or decode
  std::vector<ModelSpec> models;
  std::vector<ClassSpec> classes;
  std::vector<PoolSpec> pools;
  std::vector<SourceSpec> sources;
  RoutingSpec routing;
  std::vector<MoveSpec> moves;  ///< no pool is the origin of two moves of one class
  MeasureSpec measure;
  DecisionLog* log = nullptr;  ///< explains one request; outlives the run; null: nobody asks
  bool gated = false;          ///< the scenario states gates: a pool whose replicas have all stopped is not healthy
  bool stepwise = false;       ///< one step at a time by the literal scheduling loop; same results, slower
  /// A replica that preempts so often in a row without any request leaving it is stopped, and its requests fail as
  /// stalled. Counted in preemptions, not steps, so that leaps do not matter.
  std::int64_t stall_preemptions = 1'000'000;
};

}  // namespace poolcast
