// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/ids.h"
#include "sim/policies/policy.h"
#include "sim/request.h"
#include "sim/routing/endpoints.h"
#include "sim/routing/pipeline_trace.h"
#include "sim/time.h"

namespace poolcast {

/// Writes down what becomes of one request and why, for `explain`. Whoever decides asks whether there is a log and
/// whether it wants the request, so that a run without one pays for a null pointer. It changes no decision.
struct DecisionLog {
  SourceId source;        ///< the request: its source …
  std::uint64_t row = 0;  ///< … and its ordinal there

  bool copying = false;  ///< what is decided now is about a copy of a request, which nobody asked about

  bool wants(const RequestRecord& request) const { return request.row == row && request.source == source && !copying; }

  /// Which rule of the gateway kept a pool that passes the gates out of a choice.
  enum class KeptOut : std::uint8_t { kNo, kCompatibility, kWeight, kQuota, kLength, kCooldown, kPriority, kPrice };

  /// A choice by policy: of a pool by the gateway, of a replica within a pool, or of a rank.
  struct PolicyChoice {
    SimTime at = 0;
    PoolId pool;  ///< whose replicas; not valid: of a pool, by the gateway
    std::string policy;
    struct Candidate {
      std::uint32_t index = 0;  ///< PoolId, or within the pool, or of a rank
      std::int64_t load = 0;    ///< requests sent there and not ended
      double weight = 1;
      std::int64_t waiting = 0, running = 0;
      double kv_usage = 0;
      Reason refused = Reason::kNone;   ///< kNone: it could be chosen
      std::vector<Reason> gates;        ///< of a pool: by Gate, kNone: passed
      KeptOut kept_out = KeptOut::kNo;  ///< of a pool
    };
    std::vector<Candidate> candidates;
    std::uint32_t chosen = UINT32_MAX;    ///< UINT32_MAX: none
    std::uint32_t ranks_of = UINT32_MAX;  ///< of a rank: whose ranks the candidates are, within the pool
    ModelId model;                        ///< of a pool: whose implementations the candidates are
    bool prefill = false;                 ///< of a pool: that computes the prompt
  };
  /// A pool to which the gateway turned, and what came of that.
  struct Turn {
    enum class Why : std::uint8_t {
      kPolicy,         ///< the policy chose it
      kSession,        ///< its session stays there
      kCompatibility,  ///< no other pool may serve the request
      kQuota,          ///< a quota is used up: none was asked
      kMove,           ///< a move sends it on
      kRefusal,        ///< the pool that was chosen does not take it
      kFallback,       ///< a fallback of the pool before
      kMirror,         ///< no turn of the request: a copy of it goes there
    };
    SimTime at = 0;
    Why why = Why::kPolicy;
    ModelId model;                   ///< that serves
    PoolId pool;                     ///< not valid: none
    Reason refused = Reason::kNone;  ///< kNone: so far it is sent there
  };
  /// A choice of a replica by an endpoint picker's pipeline.
  struct PipelineChoice {
    SimTime at = 0;
    PoolId pool;
    routing::Endpoints seen;
    routing::PipelineTrace trace;
    std::uint32_t chosen = UINT32_MAX;  ///< replica within the pool; UINT32_MAX: none
  };
  /// What a replica did with the request. Like steps in a row are one.
  struct Stage {
    enum class Kind : std::uint8_t { kQueued, kPrefill, kDecode, kStarved, kPreempted };
    Kind kind = Kind::kQueued;
    ReplicaId replica;
    SimTime start = 0;
    SimTime end = 0;           ///< of the last step
    std::int64_t steps = 0;    ///< 0: an instant
    std::int64_t tokens = 0;   ///< of the request: queued: its prompt; prefill: computed; preempted: dropped
    std::int64_t context = 0;  ///< prefill: computed or found in a cache before
    std::int64_t least_batch = 0, most_batch = 0;  ///< requests in the step; queued: waiting before it, and running
    Tokens step_tokens = 0;                        ///< of all requests, in the first step
  };

  /// The candidates that were open to a policy, and its choice. The gateway adds those that it refused.
  static PolicyChoice policy_choice(SimTime at, PoolId pool, const std::string& policy, const Candidates& candidates,
                                    std::uint32_t chosen);

  std::vector<PolicyChoice> gateway;
  std::vector<Turn> way;  ///< in order; of the tries of a request that was sent again, too
  std::vector<PolicyChoice> policies;
  std::vector<PipelineChoice> pipelines;
  std::vector<Stage> stages;
};

const char* name(DecisionLog::KeptOut rule);
const char* name(DecisionLog::Turn::Why why);

}  // namespace poolcast
