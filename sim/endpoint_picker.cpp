// SPDX-License-Identifier: Apache-2.0
#include "sim/endpoint_picker.h"

#include <algorithm>

#include "sim/schedulers/registry.h"

namespace poolcast {
namespace {

/// With `autoTune` the engine's own block size and number of blocks take the place of those configured.
routing::PrefixIndex::Options tuned(routing::PrefixIndex::Options options, const PoolSpec& pool, std::int64_t blocks) {
  const std::int64_t size = block_size(pool.engine);
  if (!options.auto_tune || size == 0) return options;
  options.block_size = size;
  const bool in_tokens = std::holds_alternative<SglangArgs>(pool.engine);
  options.capacity = std::max<std::int64_t>(1, in_tokens ? blocks / size : blocks);
  return options;
}

}  // namespace

EndpointPicker::EndpointPicker(const routing::PipelineSpec& spec, const PoolSpec& pool, const Signals& signals,
                               std::int64_t blocks, std::uint64_t seed)
    : pool_(pool.name),
      signals_(signals),
      pipeline_(spec, seed, "pool/" + pool.name),
      index_(tuned(routing::prefix_options(spec), pool, blocks), static_cast<std::size_t>(pool.replicas)) {
  endpoints_.reset(static_cast<std::size_t>(pool.replicas));
  pipeline_.bind(endpoints_);
}

/// Fills in what the router sees now. Metrics are read from the replicas themselves, so they are never old.
void EndpointPicker::observe(const RequestRecord& request, const Content& content) {
  for (std::uint32_t r = 0; r < endpoints_.size(); ++r) {
    endpoints_.waiting[r] = signals_.waiting(r);
    endpoints_.running[r] = signals_.running(r);
    endpoints_.kv_usage[r] = signals_.kv_usage(r);
  }
  index_.look_up(content, request.prompt_tokens, endpoints_.prefix);
  for (std::size_t r = 0; r < endpoints_.size(); ++r) {
    const routing::PrefixMatch& match = endpoints_.prefix[r];
    endpoints_.uncached_tokens[r] = request.prompt_tokens - match.match_blocks * match.block_size_tokens;
  }
}

std::optional<std::uint32_t> EndpointPicker::choose(const RequestRecord& request, const Content& content,
                                                    std::span<const std::uint32_t> open) {
  observe(request, content);
  routing::RequestView view{request.prompt_tokens, request.output_target, request.model.value, request.priority};
  // Sources number their sessions by themselves.
  if (request.session != UINT64_MAX) view.session = content_id(request.source.value, request.session);
  if (log_ != nullptr && log_->wants(request)) return logged_choice(request, view, open);
  return pipeline_.decide(view, endpoints_, open).endpoint;
}

std::optional<std::uint32_t> EndpointPicker::logged_choice(const RequestRecord& request,
                                                           const routing::RequestView& view,
                                                           std::span<const std::uint32_t> open) {
  DecisionLog::PipelineChoice choice{request.at.sent, pool_id_, endpoints_, {}, UINT32_MAX};
  pipeline_.trace(&choice.trace);
  const auto chosen = pipeline_.decide(view, endpoints_, open).endpoint;
  pipeline_.trace(nullptr);
  if (chosen) choice.chosen = *chosen;
  log_->pipelines.push_back(std::move(choice));
  return chosen;
}

void EndpointPicker::watch(DecisionLog* log, PoolId pool) {
  log_ = log;
  pool_id_ = pool;
}

void EndpointPicker::added(std::uint32_t replica, RequestId id) {
  index_.add(replica);
  if (tokens_.size() <= id.value) tokens_.resize(id.value + 1);
  tokens_[id.value] = endpoints_.uncached_tokens[replica];
  ++endpoints_.in_flight_requests[replica];
  endpoints_.in_flight_tokens[replica] += tokens_[id.value];
}

void EndpointPicker::removed(std::uint32_t replica, RequestId id) {
  --endpoints_.in_flight_requests[replica];
  endpoints_.in_flight_tokens[replica] -= tokens_[id.value];
}

void EndpointPicker::tell_faults(std::vector<std::string>& notes) const {
  for (const auto& [name, faults] : pipeline_.script_faults()) {
    if (faults.failed == 0) continue;
    notes.push_back("The script of " + name + " (pool " + pool_ + ") failed " + std::to_string(faults.failed) +
                    " times in " + std::to_string(faults.calls) + " calls, at first with: " + faults.first + ".");
  }
}

}  // namespace poolcast
