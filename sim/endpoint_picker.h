// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/content.h"
#include "sim/decision_log.h"
#include "sim/latency_predictor.h"
#include "sim/policies/policy.h"
#include "sim/request.h"
#include "sim/routing/pipeline.h"
#include "sim/seen_caches.h"
#include "sim/seen_signals.h"
#include "sim/spec.h"

namespace poolcast {

/// The endpoint picker of a pool: what it knows of the pool's replicas, and the pipeline that decides.
///
/// Waiting and running requests and the use of the KV cache are what the router knows of them. In flight is what it
/// sent and has not seen end: requests, and the tokens of their prompts that it did not believe to be cached.
class EndpointPicker {
 public:
  /// `signals` are those of the pool's replicas as its router knows them and outlive the picker; `seen` are the same
  /// where they are not always those of the instant, else null; `caches` are their prefix caches where the pipeline has
  /// the engines tell, else null. The pool has a pipeline; `blocks` of KV memory are usable on each replica. `spec`
  /// outlives the picker.
  EndpointPicker(const SimulationSpec& spec, PoolId pool, const Signals& signals, const SeenSignals* seen,
                 SeenCaches* caches, std::int64_t blocks);

  /// A replica among `open` (indices within the pool), or none that the filters leave.
  std::optional<std::uint32_t> choose(const RequestRecord& request, const Content& content,
                                      std::span<const std::uint32_t> open, SimTime now);
  /// How full the replicas `open` are by the detector of flow control.
  double saturation(std::span<const std::uint32_t> open, SimTime now);
  /// The engines of a replica are about to change.
  void changing(std::uint32_t replica) {
    if (changed_[replica] != 0) return;
    changed_[replica] = 1;
    to_read_.push_back(replica);
  }
  /// Whether the prompt of the request that was chosen for last is computed elsewhere, by the pipeline's decider.
  bool prefills_elsewhere(const RequestRecord& request, std::uint32_t chosen) const;
  /// What was chosen last goes there as `id`.
  void added(std::uint32_t replica, RequestId id, SimTime now);
  void removed(std::uint32_t replica, RequestId id);
  /// A request that was sent to this replica has ended there.
  void answered(std::uint32_t replica, const routing::Answer& answer) { pipeline_.answered(replica, answer); }
  bool listens() const { return pipeline_.listens(); }
  /// Writes down the choice for the request that the log wants; null: none. The log outlives this.
  void watch(DecisionLog* log) { log_ = log; }
  /// A sentence for each plugin whose script failed.
  void tell_faults(std::vector<std::string>& notes) const;

 private:
  /// A prompt on its way into the index.
  struct Sent {
    SimTime known;
    std::uint32_t replica;
    std::vector<std::uint64_t> blocks;
  };

  std::optional<std::uint32_t> logged_choice(const routing::RequestView& view, std::span<const std::uint32_t> open,
                                             SimTime now);
  void observe_metrics(SimTime now);
  void read(std::uint32_t replica);
  void read_kv(std::uint32_t replica);
  void observe_prompt(const RequestRecord& request, const Content& content, SimTime now);
  template <class Index>
  void match_prompt(Index& index, const RequestRecord& request, const Content& content);

  const PoolSpec& spec_;
  const PolicySpec& policy_;
  PoolId pool_;
  const Signals& signals_;
  const SeenSignals* seen_;
  SeenCaches* caches_;
  std::uint64_t version_ = UINT64_MAX;  ///< of what is seen, in the columns
  std::deque<Sent> sent_;
  routing::Pipeline pipeline_;
  std::optional<routing::PrefixIndex> index_;  ///< none: only the exact one is asked for
  std::span<const std::uint64_t> present_;     ///< blocks of the present prompt
  std::int64_t block_size_ = 0;                ///< of those
  routing::Endpoints endpoints_;
  std::optional<LatencyPredictor> predictor_;
  DecisionLog* log_ = nullptr;
  // A column is read anew where an engine changed since, or its KV use by the steps that it had planned.
  std::vector<std::uint8_t> changed_;   ///< by replica
  std::vector<std::uint32_t> to_read_;  ///< those that changed
  std::vector<SimTime> kv_until_;       ///< by replica
  std::vector<std::int64_t> tokens_;    ///< by RequestId: counted as in flight
};

}  // namespace poolcast
