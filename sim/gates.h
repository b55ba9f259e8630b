// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/request.h"
#include "sim/spec.h"

/// Which implementations may serve a request (design §8). Each test is a gate with reason codes of its own, the ones of
/// sim/request.h. Only what passes all of them is ever chosen from; whoever chooses a pool asks here first.
namespace poolcast {

enum class Gate : std::uint8_t {
  kModel,       ///< serves the model, and does for this class of requests what the contract promises
  kArtifact,    ///< its status lets it have this traffic
  kLimits,      ///< the request is within the limits of contract, implementation, compiled shapes and engine
  kEvaluation,  ///< its score passes the threshold with the confidence that is asked for
  kCapacity,    ///< one of its replicas takes one more request
  kEconomics,   ///< its cost is within what the contract accepts
};
inline constexpr int kGates = 6;
const char* name(Gate gate);
/// The gate that a reason belongs to; kModel for reasons that belong to none.
Gate gate_of(Reason reason);

/// How a request would come to a pool.
enum class Via : std::uint8_t {
  kGateway,        ///< its weights and policies
  kMove,           ///< a move of traffic: a canary needs no weight
  kFallback,       ///< requests of another model: that is no fault
  kMirror,         ///< a copy that no user waits for: status, score and cost do not matter, unless it is retired
  kCompatibility,  ///< nothing else may serve it: status, score and cost do not matter, unless it is retired
};
inline constexpr int kVias = 5;

/// All six gates for one request and one implementation.
struct GateVerdicts {
  std::array<Reason, kGates> reasons{};  ///< by Gate; kNone: passed

  Reason of(Gate gate) const { return reasons[static_cast<std::size_t>(gate)]; }
  /// Of the first gate that does not pass, in their order; kNone when all do.
  Reason first() const;
  bool passed() const { return first() == Reason::kNone; }
};

/// What the gates said, warm-up included: [ClassId][PoolId], by Reason (kNone: passed). A request is counted each time
/// that it is judged for a pool; pools that the gateway gives no weight are not judged.
struct GateReport {
  using Counts = std::array<std::uint64_t, kReasons>;
  std::vector<std::vector<Counts>> counts;
  std::vector<std::uint64_t> compatibility;  ///< by ClassId: requests that went to the compatibility pool
  std::vector<std::uint64_t> nobody;  ///< by ClassId: requests that no implementation might serve, these included
};

/// Judges by tables that are made once, so that a request costs a few comparisons for each pool.
class Gates {
 public:
  explicit Gates(const SimulationSpec& spec);  ///< outlives this

  /// The first gate but capacity that keeps a request from this pool; kNone: it may go there. `output` tokens are
  /// wanted of it: one, where it computes the prompt for another pool.
  Reason refusal(const RequestRecord& request, PoolId pool, std::int64_t output, Via via = Via::kGateway) const {
    const Entry& entry = entries_[row(request.cls, pool)];
    if (const Reason fixed = entry.fixed[static_cast<std::size_t>(via)]; fixed != Reason::kNone) return fixed;
    return by_size(entry, request.prompt_tokens, output);
  }
  /// The same for the request as it stands.
  Reason refusal(const RequestRecord& request, PoolId pool, Via via = Via::kGateway) const {
    return refusal(request, pool, request.output_target, via);
  }
  /// Every gate, for explanations. `has_room`: what the pool's replicas say.
  GateVerdicts judge_all(const RequestRecord& request, PoolId pool, bool has_room, Via via = Via::kGateway) const;

  /// Why a request is outside its contract; kNone when it is within.
  Reason outside_contract(const RequestRecord& request) const;
  /// The longest sequence that the contract and any implementation that may serve the class take.
  std::int64_t longest_context(ClassId cls) const { return longest_[cls.value]; }
  /// Takes what no implementation of the model may serve; not valid where there is none.
  PoolId compatibility(ModelId model) const { return spec_.models[model.value].compatibility; }

  /// Keeps count of a judgement. A refusal for capacity, which others judge, comes as kQueueFull.
  void count(ClassId cls, PoolId pool, Reason reason) { ++counts_[row(cls, pool)][static_cast<std::size_t>(reason)]; }
  void count_nobody(ClassId cls, bool taken) {
    ++nobody_[cls.value];
    compatibility_[cls.value] += taken ? 1 : 0;
  }
  GateReport report() const;

 private:
  struct Entry {
    std::array<Reason, kVias> fixed{};  ///< what does not depend on the request
    const ImplementationSpec* implementation = nullptr;
    const EngineArgs* engine = nullptr;
  };

  std::size_t row(ClassId cls, PoolId pool) const { return cls.value * pools_ + pool.value; }
  Reason model_gate(const ClassSpec& cls, const ModelSpec& serves, const ImplementationSpec& implementation,
                    Via via) const;
  Reason artifact_gate(const ClassSpec& cls, const ImplementationSpec& implementation, Via via) const;
  Entry make_entry(const ClassSpec& cls, const ModelSpec& serves, const ImplementationSpec& implementation) const;
  std::int64_t find_longest(ClassId cls) const;
  static Reason by_size(const Entry& entry, std::int64_t prompt, std::int64_t output);

  const SimulationSpec& spec_;
  std::size_t pools_ = 0;
  std::vector<Entry> entries_;  ///< [ClassId][PoolId]
  std::vector<std::int64_t> longest_;
  std::vector<GateReport::Counts> counts_;  ///< [ClassId][PoolId]
  std::vector<std::uint64_t> compatibility_, nobody_;
};

/// The one of two reasons that is nearer to being served, where no implementation takes a request: a full queue before
/// a limit before all else, and of alike ones the second.
Reason nearer(Reason first, Reason second);

}  // namespace poolcast
