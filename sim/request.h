// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/ids.h"
#include "sim/time.h"

namespace poolcast {

/// How a request ended.
enum class Outcome : std::uint8_t { kCompleted, kRejected, kFailed, kTimedOut, kCancelled };
inline constexpr int kOutcomes = 5;

/// Why a request did not complete.
enum class Reason : std::uint8_t {
  kNone,
  kContextLimit,    ///< prompt plus output longer than every eligible implementation or the contract allows
  kKvCapacity,      ///< needs more KV blocks than a replica has
  kTokenBudget,     ///< chunked prefill is off and the prompt exceeds max_num_batched_tokens
  kQueueFull,       ///< every eligible replica was full (PoolSpec::max_pending_requests), or its engine's own queue
  kNoEligiblePool,  ///< no pool serves the model
  kTimeout,         ///< the contract's time-out passed
  kPatience,        ///< the user gave up before the first token
  kStalled,         ///< its replica made no progress any more
  kQueueTimeout,    ///< the engine's own queue refused it after too long a wait (Triton's queue policy)
  kSaturated,       ///< the filters of the pool's endpoint picker left no replica
  kFlowQueueFull,   ///< the queue of flow control before its pool, or its priority's part of it, was full
  kFlowExpired,     ///< it waited there for longer than its time to live
  // Of the gates (sim/gates.h), beside the limits and the full queue above.
  kOtherModel,         ///< the pool serves another model
  kDataHandling,       ///< the pool must not see requests of this class
  kNoStreaming,        ///< the contract promises what the implementation cannot
  kNoCancellation,     ///< the same
  kExperimental,       ///< status of the artifact
  kBatchOnly,          ///< the same, and the class is not batch
  kCanary,             ///< the same, and neither a weight of the gateway nor a move sends it traffic
  kRetired,            ///< status of the artifact
  kInputLimit,         ///< prompt longer than the contract or the implementation allows
  kOutputLimit,        ///< output longer than they allow
  kShape,              ///< no compiled shape holds it
  kEvaluationMissing,  ///< no score of the suite
  kEvaluationSamples,  ///< a score that is no share of a stated number of samples
  kBelowThreshold,     ///< the score is
  kNotConfident,       ///< the score passes, but the lower end of its interval does not
  kReplicasStalled,    ///< all of them
  kPriceUnknown,       ///< and the contract limits the cost
  kCostLimit,          ///< cost above the limit
  kCostMargin,         ///< cost above that of the incumbent by more than the margin
  // Of the rules of the gateway.
  kCoolingDown,  ///< every pool that might have taken it rests after failures
  kQuota,        ///< beyond a quota
};
inline constexpr int kReasons = 34;

const char* name(Outcome outcome);
const char* name(Reason reason);

/// The raw instants of a request (design §10). kNever marks one that was not reached.
struct Instants {
  SimTime intended = kNever;         ///< the user wanted to send it
  SimTime sent = kNever;             ///< it was sent (later than intended only when a client holds it back)
  SimTime routed = kNever;           ///< the gateway chose a replica
  SimTime queued = kNever;           ///< it entered the replica's waiting queue
  SimTime first_scheduled = kNever;  ///< start of the first step that held it
  SimTime prefilled = kNever;        ///< prefill and decode apart: its prompt was computed …
  SimTime transferred = kNever;      ///< … and its KV had come to the pool that decodes
  SimTime first_token = kNever;      ///< end of the step that produced its first token
  SimTime last_token = kNever;       ///< end of the step that produced its latest token
};

/// A request that has ended, as observers see it.
struct RequestRecord {
  Instants at;
  SimTime ended = kNever;
  SourceId source;
  std::uint64_t row = 0;
  std::uint64_t session = UINT64_MAX;
  ClassId cls;
  ModelId model;
  PoolId pool;                ///< not valid when it was never routed
  ReplicaId replica;          ///< not valid when it was never routed
  ReplicaId prefill_replica;  ///< valid where prefill and decode are apart
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;      ///< produced
  std::int64_t output_target = 0;      ///< asked for
  std::int64_t cached_tokens = 0;      ///< of the prompt, found in a prefix cache when it was first scheduled
  std::int64_t ideal_tokens = 0;       ///< of the prompt, that an endless cache would have found (IdealCache)
  std::int64_t recomputed_tokens = 0;  ///< computed again after preemptions
  std::int32_t preemptions = 0;
  std::int32_t priority = 0;
  std::int16_t retries = 0;  ///< times that its client sent it again; instants from `routed` on are of the last try
  Outcome outcome = Outcome::kCompleted;
  Reason reason = Reason::kNone;
  bool accepted = false;  ///< completed and every per-request objective of its class met
  bool measured = false;  ///< inside the measurement window
};

/// Sees every request that ends, in order of its end. Observers cannot change a decision.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void request_ended(const RequestRecord& record) = 0;
};

}  // namespace poolcast
