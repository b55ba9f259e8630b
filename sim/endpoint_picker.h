// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/content.h"
#include "sim/decision_log.h"
#include "sim/policies/policy.h"
#include "sim/request.h"
#include "sim/routing/pipeline.h"
#include "sim/spec.h"

namespace poolcast {

/// The endpoint picker of a pool: what it knows of the pool's replicas, and the pipeline that decides.
///
/// Waiting and running requests and the use of the KV cache are those of this instant. In flight is what it sent and
/// has not seen end: requests, and the tokens of their prompts that it did not believe to be cached.
class EndpointPicker {
 public:
  /// `signals` are those of the pool's replicas and outlive the picker; `blocks` of KV memory are usable on each.
  EndpointPicker(const routing::PipelineSpec& spec, const PoolSpec& pool, const Signals& signals, std::int64_t blocks,
                 std::uint64_t seed);

  /// A replica among `open` (indices within the pool), or none that the filters leave.
  std::optional<std::uint32_t> choose(const RequestRecord& request, const Content& content,
                                      std::span<const std::uint32_t> open);
  /// What was chosen last goes there as `id`.
  void added(std::uint32_t replica, RequestId id);
  void removed(std::uint32_t replica, RequestId id);
  /// Writes down the choice for the request that the log wants; null: none. The log outlives this.
  void watch(DecisionLog* log, PoolId pool);
  /// A sentence for each plugin whose script failed.
  void tell_faults(std::vector<std::string>& notes) const;

 private:
  void observe(const RequestRecord& request, const Content& content);
  std::optional<std::uint32_t> logged_choice(const RequestRecord& request, const routing::RequestView& view,
                                             std::span<const std::uint32_t> open);

  std::string pool_;  ///< its name
  const Signals& signals_;
  routing::Pipeline pipeline_;
  routing::PrefixIndex index_;
  routing::Endpoints endpoints_;
  DecisionLog* log_ = nullptr;
  PoolId pool_id_;
  std::vector<std::int64_t> tokens_;  ///< by RequestId: counted as in flight
};

}  // namespace poolcast
