// SPDX-License-Identifier: Apache-2.0
#include "sim/endpoint_picker.h"

#include <algorithm>

#include "sim/schedulers/registry.h"

namespace poolcast {
namespace {

/// Usable blocks of a replica. SGLang counts its memory in tokens.
std::int64_t in_blocks(const PoolSpec& pool, std::int64_t blocks) {
  const bool in_tokens = std::holds_alternative<SglangArgs>(pool.engine);
  return in_tokens ? blocks / std::max<std::int64_t>(1, block_size(pool.engine)) : blocks;
}

/// As the pool states them, and the role of a pool where prefill and decode are apart.
std::vector<std::vector<std::pair<std::string, std::string>>> labels_of(const PoolSpec& pool) {
  constexpr const char* kRole = "llm-d.ai/role";
  auto labels = pool.labels;
  if (pool.role == PoolRole::kBoth) return labels;
  labels.resize(static_cast<std::size_t>(pool.replicas));
  for (auto& of_replica : labels) {
    const bool stated =
        std::any_of(of_replica.begin(), of_replica.end(), [](const auto& l) { return l.first == kRole; });
    if (!stated) of_replica.emplace_back(kRole, pool.role == PoolRole::kDecode ? "decode" : "prefill");
  }
  return labels;
}

/// With `autoTune` the engine's own block size and number of blocks take the place of those configured.
routing::PrefixIndex::Options tuned(routing::PrefixIndex::Options options, const PoolSpec& pool, std::int64_t blocks) {
  const std::int64_t size = block_size(pool.engine);
  if (!options.auto_tune || size == 0) return options;
  options.block_size = size;
  options.capacity = std::max<std::int64_t>(1, in_blocks(pool, blocks));
  return options;
}

}  // namespace

EndpointPicker::EndpointPicker(const SimulationSpec& spec, PoolId pool, const Signals& signals, const SeenSignals* seen,
                               SeenCaches* caches, std::int64_t blocks)
    : spec_(spec.pools[pool.value]),
      policy_(spec.routing.pool[pool.value]),
      pool_(pool),
      signals_(signals),
      seen_(seen),
      caches_(caches),
      pipeline_(*policy_.pipeline, spec.seed, "pool/" + spec_.name) {
  const routing::PipelineSpec& pipeline = *policy_.pipeline;
  const auto replicas = static_cast<std::size_t>(spec_.replicas);
  if (const auto options = routing::prefix_options(pipeline)) index_.emplace(tuned(*options, spec_, blocks), replicas);
  endpoints_.reset(replicas);
  endpoints_.labels = labels_of(spec_);
  endpoints_.kv_blocks.assign(replicas, in_blocks(spec_, blocks));
  if (index_ && caches_ != nullptr) endpoints_.approximate.resize(replicas);
  if (routing::reads_busy(pipeline)) endpoints_.busy.assign(replicas, 0);
  if (predicts_latency(pipeline)) {
    predictor_.emplace(spec, spec_, in_blocks(spec_, blocks));
    endpoints_.latency.resize(replicas);
  }
  changed_.assign(replicas, 0);
  kv_until_.assign(replicas, kNever);
  for (std::uint32_t r = 0; r < replicas; ++r) changing(r);
  pipeline_.bind(endpoints_);
}

/// Fills in what the router knows of the replicas now.
void EndpointPicker::observe_metrics(SimTime now) {
  for (std::uint32_t r = 0; r < endpoints_.busy.size(); ++r) endpoints_.busy[r] = signals_.busy(r);
  if (seen_ != nullptr) {
    std::fill(endpoints_.metric_age_ms.begin(), endpoints_.metric_age_ms.end(), seen_->age_ms());
    if (seen_->version() != version_) {
      version_ = seen_->version();
      for (std::uint32_t r = 0; r < endpoints_.size(); ++r) changing(r);
    } else if (!seen_->any_instant()) {
      return;
    }
  }
  for (const std::uint32_t r : to_read_) read(r);
  to_read_.clear();
  for (std::uint32_t r = 0; r < kv_until_.size(); ++r) {
    if (kv_until_[r] < now) read_kv(r);
  }
}

void EndpointPicker::read(std::uint32_t replica) {
  changed_[replica] = 0;
  endpoints_.waiting[replica] = signals_.waiting(replica);
  endpoints_.running[replica] = signals_.running(replica);
  read_kv(replica);
}

void EndpointPicker::read_kv(std::uint32_t replica) {
  const KvReading reading = signals_.read_kv(replica);
  endpoints_.kv_usage[replica] = reading.share;
  kv_until_[replica] = reading.until;
}

void EndpointPicker::observe_prompt(const RequestRecord& request, const Content& content, SimTime now) {
  for (; !sent_.empty() && sent_.front().known <= now; sent_.pop_front()) {
    index_->add(sent_.front().replica, sent_.front().blocks);
  }
  if (caches_ == nullptr) return match_prompt(*index_, request, content);
  if (index_) index_->look_up(content, request.prompt_tokens, endpoints_.approximate);
  match_prompt(caches_->look(now), request, content);
}

/// Asks the index that the pipeline goes by.
template <class Index>
void EndpointPicker::match_prompt(Index& index, const RequestRecord& request, const Content& content) {
  index.look_up(content, request.prompt_tokens, endpoints_.prefix);
  present_ = index.present();
  block_size_ = index.block_size();
  std::fill(endpoints_.uncached_tokens.begin(), endpoints_.uncached_tokens.end(), request.prompt_tokens);
  for (const std::uint32_t r : index.found()) {
    const routing::PrefixMatch& match = endpoints_.prefix[r];
    endpoints_.uncached_tokens[r] -= match.match_blocks * match.block_size_tokens;
  }
}

std::optional<std::uint32_t> EndpointPicker::choose(const RequestRecord& request, const Content& content,
                                                    std::span<const std::uint32_t> open, SimTime now) {
  observe_metrics(now);
  observe_prompt(request, content, now);
  if (predictor_) predictor_->predict(request.cls, request.prompt_tokens, endpoints_);
  routing::RequestView view{request.prompt_tokens, request.output_target, request.model.value, request.priority};
  view.now_ns = now;
  view.blocks = present_;
  view.block_tokens = block_size_;
  view.model_context_limit = spec_.model_context_limit;
  view.model_output_limit = spec_.model_output_limit;
  // Sources number their sessions by themselves.
  if (request.session != UINT64_MAX) view.session = content_id(request.source.value, request.session);
  if (log_ != nullptr && log_->wants(request)) return logged_choice(view, open, now);
  return pipeline_.decide(view, endpoints_, open).endpoint;
}

std::optional<std::uint32_t> EndpointPicker::logged_choice(const routing::RequestView& view,
                                                           std::span<const std::uint32_t> open, SimTime now) {
  DecisionLog::PipelineChoice choice{now, pool_, endpoints_, {}, UINT32_MAX};
  pipeline_.trace(&choice.trace);
  const auto chosen = pipeline_.decide(view, endpoints_, open).endpoint;
  pipeline_.trace(nullptr);
  if (chosen) choice.chosen = *chosen;
  log_->pipelines.push_back(std::move(choice));
  return chosen;
}

bool EndpointPicker::prefills_elsewhere(const RequestRecord& request, std::uint32_t chosen) const {
  const auto& rule = policy_.pipeline->prefill;
  return !rule ||
         (request.prompt_tokens >= rule->prompt_tokens && endpoints_.uncached_tokens[chosen] >= rule->uncached_tokens);
}

double EndpointPicker::saturation(std::span<const std::uint32_t> open, SimTime now) {
  observe_metrics(now);
  return pipeline_.saturation(endpoints_, open);
}

void EndpointPicker::added(std::uint32_t replica, RequestId id, SimTime now) {
  const SimTime delay = policy_.signals.prefix_delay;
  if (index_ && delay == 0) {
    index_->add(replica);
  } else if (index_) {
    sent_.push_back({later(now, delay), replica, {index_->present().begin(), index_->present().end()}});
  }
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
    notes.push_back("The script of " + name + " (pool " + spec_.name + ") failed " + std::to_string(faults.failed) +
                    " times in " + std::to_string(faults.calls) + " calls, at first with: " + faults.first + ".");
  }
}

}  // namespace poolcast
