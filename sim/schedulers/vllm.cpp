// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/vllm.h"

#include <algorithm>
#include <utility>

namespace poolcast {

VllmScheduler::VllmScheduler(const VllmArgs& args, RequestTable& table, std::size_t groups,
                             std::optional<Buckets> buckets, std::uint64_t seed)
    : args_(args),
      table_(table),
      waiting_(args.policy, table),
      running_(table),
      decodes_(args.block_size, table, groups),
      kv_(args.block_size, args.num_gpu_blocks - 1, args.enable_prefix_caching, table, args.host_blocks),
      buckets_(std::move(buckets)),
      watermark_blocks_(static_cast<std::int64_t>(args.watermark * static_cast<double>(args.num_gpu_blocks))),
      acceptance_(args.speculation, seed),
      draft_slots_(args.speculation.draft_slots()),
      speculates_(args.speculation.on()),
      drops_last_hit_(args.speculation.method == SpeculationArgs::Method::kEagle) {}

void VllmScheduler::enqueue(RequestId id) {
  SchedulerState& s = table_.state(id);
  s.tokens = s.prompt_tokens;
  s.standing = Standing::kWaiting;
  kv_.open_table(id);
  if (args_.async_scheduling) {
    came_.push_back(id);
  } else {
    waiting_.add(id);
  }
}

void VllmScheduler::abort(RequestId id) {
  SchedulerState& s = table_.state(id);
  if (s.standing == Standing::kWaiting) {
    s.standing = Standing::kGone;
    if (std::erase(came_, id) == 0) waiting_.remove(id);
    return;
  }
  if (s.standing == Standing::kLoading) {
    for (auto* list : {&loading_, &loaded_, &landed_}) std::erase(*list, id);
    s.standing = Standing::kGone;
    // What has come is not cached before it is looked at.
    const auto cached = kv_.entered(id) * args_.block_size;
    give_back(id, loading_blocks(id) * args_.block_size, cached);
    refused_ = {};
    return;
  }
  const Tokens held = computed(id);
  if (s.standing == Standing::kDecoding) {
    stop_decoding(id);
  } else {
    stop_prefilling(id);
  }
  s.standing = Standing::kGone;
  if (ahead_) return linger(id, held);
  give_back(id, held, held);
  running_.remove(id);
}

// ---------------------------------------------------------------- one step

/// Clears the plan before: of an empty step, which nobody ends, it still says who went without.
Tokens VllmScheduler::begin_plan() {
  if (!ended_) {
    for (const RequestId id : plan_.starved) table_.state(id).starved = false;
  }
  plan_.clear();
  refused_ = {};
  gave_way_ = ended_ = false;
  return args_.max_num_batched_tokens;
}

const StepPlan& VllmScheduler::plan_step(bool literally) {
  Tokens budget = begin_plan();
  const bool ahead = ahead_;
  ahead_ = false;
  if (args_.async_scheduling && !ahead) catch_up();
  if (literally || speculates_ || !schedule_running_at_once(budget)) schedule_running_in_order(budget);
  if (!gave_way_) admit_waiting(budget);
  if (ahead) plan_.again = catch_up();
  complete_plan();
  return plan_;
}

Tokens VllmScheduler::computed(RequestId id) const {
  const SchedulerState& s = table_.state(id);
  return s.standing == Standing::kDecoding ? decodes_.tokens(id) - 1 : s.computed;
}

/// Tokens that a running request gets from `budget`, before blocks are asked for.
Tokens VllmScheduler::wanted(RequestId id, Tokens budget) const {
  const SchedulerState& s = table_.state(id);
  const bool decoding = s.standing == Standing::kDecoding;
  if (s.standing == Standing::kGone) return 0;  // it has all its tokens
  const Tokens done = computed(id);
  Tokens n = decoding ? 1 : s.tokens - done;
  if (s.drafted) n += args_.speculation.num_speculative_tokens;
  if (args_.long_prefill_token_threshold > 0) n = std::min(n, args_.long_prefill_token_threshold);
  return std::max<Tokens>(0, std::min({n, budget, args_.max_model_len - done - 1}));
}

/// Gives every running request its tokens if nobody has to go short in a way that depends on the order. Changes nothing
/// and says no otherwise.
bool VllmScheduler::schedule_running_at_once(Tokens& budget) {
  // Prompts may hold what others are about to say: then blocks must be entered in the order of the list.
  if (quotable_ > 0 && !prefilling_.empty()) return false;
  const std::int64_t new_blocks = decodes_.size() == 0 ? 0 : decodes_.new_blocks(0);
  Tokens left = budget - decodes_.size();
  std::int64_t free = kv_.free() - new_blocks;
  if (left < 0 || free < 0) return false;

  demands_.clear();
  for (const RequestId id : prefilling_) {
    const Tokens n = wanted(id, left);
    // A cut chunk is right only if all decodes come before it in the list.
    const bool cut = n == left && n < wanted(id, args_.max_num_batched_tokens);
    if (cut && decodes_.size() > 0 && decodes_.youngest() > table_.state(prefilling_.front()).admission) return false;
    const SchedulerState& s = table_.state(id);
    free -= kv_.blocks(s.computed + n) - kv_.blocks(s.computed);
    if (free < 0) return false;
    left -= n;
    demands_.push_back(n);
  }
  for (std::size_t i = 0; i < demands_.size(); ++i) {
    SchedulerState& s = table_.state(prefilling_[i]);
    s.chunk = static_cast<std::int32_t>(demands_[i]);
    if (demands_[i] == 0) continue;
    kv_.grow(prefilling_[i], s.computed, s.computed + demands_[i]);
    give_chunk(prefilling_[i], demands_[i]);
  }
  kv_.open(new_blocks);
  budget = left;
  return true;
}

/// vLLM's own loop over the running list.
void VllmScheduler::schedule_running_in_order(Tokens& budget) {
  for (std::uint32_t at = running_.head(); at != kNone; at = table_.state(RequestId(at)).next) {
    SchedulerState& s = table_.state(RequestId(at));
    s.chunk = 0;
    s.starved = s.standing == Standing::kDecoding;
  }
  for (std::uint32_t at = running_.head(); at != kNone && budget > draft_slots_;
       at = table_.state(RequestId(at)).next) {
    const RequestId id(at);
    const Tokens n = wanted(id, budget - draft_slots_);
    if (n == 0) continue;  // later requests may go ahead
    const Tokens done = computed(id);
    const std::int64_t need = blocks_to_add(id, done, n);
    if (!make_room(id, need, budget)) break;  // it gave way itself, and nobody after it is served in this step
    SchedulerState& s = table_.state(id);
    if (s.standing == Standing::kDecoding) {
      kv_.open(need);
      if (quotable_ > 0 && table_.content(id).output != 0) kv_.settle(id, known(done));
    } else {
      add_blocks(id, done, n, need);
    }
    budget -= n + draft_slots_;
    s.chunk = static_cast<std::int32_t>(n);
    s.starved = false;
  }
  for (std::uint32_t at = running_.head(); at != kNone; at = table_.state(RequestId(at)).next) {
    const SchedulerState& s = table_.state(RequestId(at));
    if (s.starved) plan_.starved.push_back(RequestId(at));
    if (s.standing == Standing::kPrefilling && s.chunk > 0) give_chunk(RequestId(at), s.chunk);
  }
}

/// Preempts until `need` blocks are free; false when `id` itself had to go.
bool VllmScheduler::make_room(RequestId id, std::int64_t need, Tokens& budget) {
  while (need > kv_.free()) {
    const RequestId out = victim();
    preempt(out, budget);
    if (out == id) return false;
  }
  return true;
}

RequestId VllmScheduler::victim() const {
  if (args_.preemption_victim == VllmArgs::Victim::kLeastComputed) return least_computed();
  if (args_.policy == VllmArgs::Policy::kFcfs) return RequestId(running_.tail());
  std::uint32_t worst = running_.head();
  for (std::uint32_t at = running_.head(); at != kNone; at = table_.state(RequestId(at)).next) {
    const SchedulerState& s = table_.state(RequestId(at));
    const SchedulerState& w = table_.state(RequestId(worst));
    // Strictly greater: of equals vLLM takes the first in the list.
    if (s.priority != w.priority ? s.priority > w.priority : s.arrival > w.arrival) worst = at;
  }
  return RequestId(worst);
}

/// Of the worst priority the request that loses fewest tokens; of equals the one that was admitted last.
RequestId VllmScheduler::least_computed() const {
  const bool by_priority = args_.policy == VllmArgs::Policy::kPriority;
  std::uint32_t chosen = running_.head();
  Tokens fewest = INT64_MAX;
  for (std::uint32_t at = running_.head(); at != kNone; at = table_.state(RequestId(at)).next) {
    const SchedulerState& s = table_.state(RequestId(at));
    const std::int32_t worst = table_.state(RequestId(chosen)).priority;
    const Tokens done = s.standing == Standing::kGone ? s.tokens : computed(RequestId(at));
    const bool worse = by_priority && s.priority != worst ? s.priority > worst : done <= fewest;
    if (worse) chosen = at, fewest = done;
  }
  return RequestId(chosen);
}

/// Frees everything that `id` holds and sends it back to the waiting queue; what it was given in this step returns to
/// the budget. Only called from the walk, where `chunk` is up to date for every running request.
void VllmScheduler::preempt(RequestId id, Tokens& budget) {
  gave_way_ = true;
  SchedulerState& s = table_.state(id);
  if (s.standing == Standing::kGone) return preempt_lingering(id);
  const bool decoding = s.standing == Standing::kDecoding;
  const Tokens held = computed(id) + s.chunk;
  const Tokens dropped = held - s.chunk;  // what it was given in this step was not computed yet
  if (s.chunk > 0) budget += s.chunk + draft_slots_;
  if (decoding) {
    stop_decoding(id);
  } else {
    stop_prefilling(id);
  }
  give_back(id, held, dropped, KvBlocks::Leaving::kPreempted);
  s.dropped += dropped;
  s.lost = static_cast<std::int32_t>(dropped);
  s.computed = 0;
  s.chunk = 0;
  s.starved = s.drafted = false;
  ++s.preemptions;
  s.standing = Standing::kWaiting;
  // `next` stays as it was, so that a walk standing on this request can go on; the list itself is mended.
  running_.remove(id);
  waiting_.put_back(id);
  plan_.preempted.push_back({id, decoding, dropped});
}

/// Admission is strictly in order: the first request that does not fit ends it. Waiting requests never preempt.
void VllmScheduler::admit_waiting(Tokens& budget) {
  const bool any = !waiting_.empty() || !loaded_.empty();
  if (any && kv_.caches() && budget > draft_slots_ && running_.size() < args_.max_num_seqs) settle_outputs();
  if (!admit_loaded(budget)) return;
  while (!waiting_.empty() && budget > draft_slots_ && running_.size() < args_.max_num_seqs) {
    const RequestId id = waiting_.front();
    const SchedulerState& s = table_.state(id);
    const KvBlocks::Match found = match(id);
    if (s.remote > 0) {
      if (!start_loading(id, found)) {
        refused_ = {id.value, table_.generation(id)};
        break;
      }
      continue;
    }
    const std::int64_t host = kv_.keeps_on_host() ? kv_.match_on_host(id, s.tokens, found.blocks) : 0;
    if (host > 0) {
      if (!start_host_load(id, found, host)) {
        refused_ = {id.value, table_.generation(id)};
        break;
      }
      continue;
    }
    Tokens n = s.tokens - found.blocks * args_.block_size;  // outputs included after a preemption
    if (args_.long_prefill_token_threshold > 0) n = std::min(n, args_.long_prefill_token_threshold);
    const bool whole = args_.enable_chunked_prefill || n <= budget - draft_slots_;
    n = std::min(n, budget - draft_slots_);
    if (!whole || !fits(s, found, n)) {
      refused_ = {id.value, table_.generation(id)};
      break;
    }
    waiting_.pop();
    budget -= n + draft_slots_;
    admit(id, found, n);
  }
}

/// The gate of the whole sequence so far, then the blocks of this chunk; the watermark counts while anything runs.
bool VllmScheduler::fits(const SchedulerState& s, const KvBlocks::Match& found, Tokens n) const {
  const std::int64_t free = kv_.free() - (running_.size() > 0 ? watermark_blocks_ : 0) + found.blocks - found.idle;
  if (args_.scheduler_reserve_full_isl && kv_.blocks(std::min(s.tokens, args_.max_model_len)) > free) return false;
  return kv_.blocks(found.blocks * args_.block_size + n) <= free;
}

void VllmScheduler::admit(RequestId id, const KvBlocks::Match& found, Tokens n) {
  SchedulerState& s = table_.state(id);
  const Tokens hit = found.blocks * args_.block_size;
  const bool resumed = s.preemptions > 0;
  if (kv_.caches()) {
    stats_.count(s.tokens, hit, resumed);
    stats_.uncomputed_hits += found.uncomputed * args_.block_size;
  }
  if (resumed) {
    const Tokens again = std::max<Tokens>(0, s.lost - hit);
    s.recomputed += again;
    plan_.recomputed += again;
  } else {
    table_.record(id).cached_tokens = hit;
  }
  s.cached += hit;
  kv_.admit(id, hit + n);
  if (speculates_) held_blocks(id) = kv_.blocks(hit + n);
  enter_running(id, hit, n);
}

void VllmScheduler::enter_running(RequestId id, Tokens computed, Tokens n) {
  SchedulerState& s = table_.state(id);
  s.standing = Standing::kPrefilling;
  s.admission = table_.next_admission();
  s.computed = computed;
  s.chunk = static_cast<std::int32_t>(n);
  running_.append(id);
  prefilling_.push_back(id);
  plan_.admitted.push_back(id);
  give_chunk(id, n);
}

void VllmScheduler::give_chunk(RequestId id, Tokens n) {
  const SchedulerState& s = table_.state(id);
  plan_.prefill.push_back({n, s.computed});
  plan_.prefill_ids.push_back(id);
  plan_.tokens += n;
  if (s.computed + n >= s.tokens) plan_.sampled += s.computed + n - s.tokens + 1;  // drafts are checked by sampling
}

/// Adds the decodes, which `give_chunk` has not seen.
void VllmScheduler::complete_plan() {
  plan_.decode_requests = decodes_.size() - static_cast<std::int64_t>(plan_.starved.size());
  plan_.decode_context = decodes_.context();
  for (const RequestId id : plan_.starved) plan_.decode_context -= decodes_.tokens(id);
  plan_.tokens += plan_.decode_requests;
  plan_.sampled += plan_.decode_requests;
  used_ = kv_.usable() - kv_.free();
  opened_ = 0;
  plan_.requests = plan_.decode_requests + static_cast<std::int64_t>(plan_.prefill.size());
  if (buckets_) buckets_->pad_ragged(plan_);
  const auto passes = static_cast<double>(args_.speculation.num_speculative_tokens);
  if (speculates_ && plan_.sampled > 0) plan_.stall = args_.speculation.draft_time * passes;
}

// ---------------------------------------------------------------- runs of alike steps

std::int64_t VllmScheduler::certain_steps(Tokens last_context) {
  if (gave_way_) return 1;  // nobody was asked to come in; the next step will ask
  if (args_.async_scheduling && may_admit()) return 1;
  if (refused_.id != kNone && may_find_more()) return 1;
  std::int64_t steps = decodes_.steps_to_first_end();
  const Tokens room = last_context - plan_.decode_context;
  steps = std::min(steps, room / decodes_.size() + 1);
  return 1 + decodes_.steps_within(kv_.free(), steps - 1);
}

std::vector<RequestId> VllmScheduler::take_all() {
  std::vector<RequestId> held;
  for_each_running([&](RequestId id, Tokens, Tokens) { held.push_back(id); });
  for (const RequestId id : held) abort(id);
  for (const auto* list : {&loaded_, &landed_, &loading_, &came_}) held.insert(held.end(), list->begin(), list->end());
  while (!came_.empty()) abort(came_.front());
  while (!landed_.empty()) abort(landed_.front());
  while (!loaded_.empty()) abort(loaded_.front());
  while (!loading_.empty()) abort(loading_.front());
  while (!waiting_.empty()) {
    held.push_back(waiting_.front());
    waiting_.pop();
    table_.state(held.back()).standing = Standing::kGone;
  }
  return held;
}

bool VllmScheduler::may_admit() {
  if (!came_.empty() || !landed_.empty()) return true;  // what they need is looked at when they are seen
  if (running_.size() >= args_.max_num_seqs || running_.size() >= args_.max_num_batched_tokens) return false;
  if (!loaded_.empty()) return true;
  if (waiting_.empty()) return false;
  // Free blocks only become fewer before the next request ends, so whoever was refused still is.
  const RequestId head = waiting_.front();
  if (head.value == refused_.id && table_.generation(head) == refused_.generation) return false;
  const SchedulerState& s = table_.state(head);
  return fits(s, match(head), 1) || may_find_more();
}

}  // namespace poolcast
