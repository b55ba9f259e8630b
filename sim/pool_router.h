// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/endpoint_picker.h"
#include "sim/engine_signals.h"
#include "sim/policies/policy.h"
#include "sim/replica.h"
#include "sim/seen_caches.h"
#include "sim/seen_signals.h"
#include "sim/spec.h"

namespace poolcast {

/// The lower level of routing, of one pool: its policy or endpoint picker chooses a replica, by what it knows of them
/// (SignalSpec), and where that has data-parallel ranks the replica's own balancer one of them, by how they stand.
class PoolRouter {
 public:
  /// The pool's engines are those from `first` on. All but `policy` outlive this; `now` is the clock.
  PoolRouter(const SimulationSpec& spec, PoolId pool, const std::vector<std::unique_ptr<Replica>>& engines,
             std::uint32_t first, const SimTime& now);

  /// Where the request goes; not valid when the endpoint picker leaves no replica. Some replica has room.
  ReplicaId choose(const RequestRecord& request, const Content& content);
  /// Whether that depends on the replica if the prompt is computed elsewhere, and if it is for the last choice.
  bool rules_on_prefill() const { return rules_on_prefill_; }
  bool prefills_elsewhere(const RequestRecord& request, ReplicaId engine) const {
    return picker_->prefills_elsewhere(request, (engine.value - first_) / ranks_);
  }
  /// Whether a replica takes one more request.
  bool has_room() const;
  /// Whether the detector of flow control would let one more request go.
  bool saturated();

  void added(ReplicaId engine, RequestId id);
  void removed(ReplicaId engine, RequestId id);
  /// A request ends that brought `output` tokens.
  void answered(const RequestRecord& request, std::int64_t output);

  /// What went wrong in the scripts of the endpoint picker, a sentence each.
  void tell_faults(std::vector<std::string>& notes) const {
    if (picker_) picker_->tell_faults(notes);
  }

  /// The engine is about to change at `now`; what was asked of it up to `settled` was asked before.
  void before_change(ReplicaId engine, SimTime settled, SimTime now) {
    const std::uint32_t replica = (engine.value - first_) / ranks_;
    if (seen_) seen_->before_change(replica, settled);
    if (picker_) picker_->changing(replica);
    signals_->before_change(replica, now);
  }
  /// What is known of the replicas; null where that is how they stand.
  SeenSignals* seen() { return seen_.get(); }
  std::uint32_t replicas() const { return static_cast<std::uint32_t>(everyone_.size()); }

 private:
  /// The ranks of a replica.
  struct Group {
    std::unique_ptr<Policy> policy;
    std::vector<std::int64_t> load;
    std::unique_ptr<EngineSignals> signals;
  };

  const Signals& known() const { return seen_ ? static_cast<const Signals&>(*seen_) : *signals_; }
  Group make_group(std::uint32_t first, const std::string& balancer) const;
  bool full(std::uint32_t replica) const;
  std::span<const std::uint32_t> open();
  std::uint32_t choose_rank(Group& group);
  void change_load(ReplicaId engine, std::int64_t by);

  const PoolSpec& spec_;
  const std::vector<std::unique_ptr<Replica>>& engines_;
  const SimTime& now_;
  std::uint64_t seed_;
  std::uint32_t first_;
  std::uint32_t ranks_;
  DecisionLog* log_;
  PoolId pool_;
  std::string policy_name_;
  std::vector<Group> groups_;  ///< by replica; empty with one rank
  std::unique_ptr<EngineSignals> signals_;
  std::unique_ptr<SeenSignals> seen_;
  std::unique_ptr<SeenCaches> caches_;  ///< null: nobody asks for them
  std::unique_ptr<Policy> policy_;
  std::unique_ptr<EndpointPicker> picker_;  ///< decides instead of the policy, where the pool has one
  bool rules_on_prefill_ = false;
  std::vector<std::int64_t> load_;       ///< by replica
  std::vector<double> weight_;           ///< by replica
  std::vector<std::uint32_t> everyone_;  ///< 0, 1, 2, …
  std::vector<std::uint32_t> all_ranks_;
  std::vector<double> even_;         ///< weights of ranks
  std::vector<std::uint32_t> open_;  ///< scratch
};

}  // namespace poolcast
