// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/tensorrt_llm.h"

#include <algorithm>
#include <iterator>

namespace poolcast {
namespace {

VllmArgs::Policy queue_policy(const TensorrtLlmArgs& args) {
  return args.waiting_queue_policy == TensorrtLlmArgs::WaitingQueuePolicy::kPriority ? VllmArgs::Policy::kPriority
                                                                                     : VllmArgs::Policy::kFcfs;
}

}  // namespace

TensorrtLlmScheduler::TensorrtLlmScheduler(const TensorrtLlmArgs& args, RequestTable& table, std::size_t groups)
    : args_(args),
      table_(table),
      queue_(queue_policy(args), table),
      decodes_(args.tokens_per_block, table, groups),
      kv_(args, table),
      capacity_(args),
      batch_(args),
      active_(table) {}

// ---------------------------------------------------------------- one step

const StepPlan& TensorrtLlmScheduler::plan(bool literally) {
  for (;;) {
    clear_plan();
    fetch();
    if (literally || !decide_at_once()) decide_in_order();
    batch_.settle();
    hold_prompts_back();
    for (const TrtMicroBatch::Context& context : batch_.contexts()) give_chunk(context);
    open_generated_blocks();
    complete_plan();
    // What ended in the last step is noticed now, when this one is on its way.
    const bool more = kept_count_ > 0;
    unsettled_ |= more;
    release_kept();
    if (plan_.tokens > 0 || !plan_.preempted.empty() || !more) return plan_;
  }
}

void TensorrtLlmScheduler::clear_plan() {
  for (const RequestId id : plan_.starved) table_.state(id).starved = false;
  plan_.clear();
  unsettled_ = false;
}

void TensorrtLlmScheduler::fetch() {
  const std::int64_t limit = args_.max_batch_size - static_cast<std::int64_t>(kept_count_);
  while (!queue_.empty() && active_.size() < limit) {
    const RequestId id = queue_.front();
    queue_.pop();
    table_.state(id).admission = table_.next_admission();
    active_.append(id);
    enter_context(id);
  }
}

TrtCapacity::View TensorrtLlmScheduler::view() {
  std::int64_t lingering = 0;
  for (std::size_t i = 0; i < kept_count_; ++i)
    lingering += kv_.blocks(kept_[i].tokens + 1) - kv_.blocks(kept_[i].tokens);
  const std::int64_t started = static_cast<std::int64_t>(contexts_.size()) - pending_;
  return {
      table_,   decodes_, kv_, contexts_, started, active_.head(), active_.tail(), generated_need_ - generated_held_,
      lingering};
}

TrtMicroBatch::Context TensorrtLlmScheduler::context_of(const TrtCapacity::Fit& fit) const {
  const SchedulerState& s = table_.state(fit.id);
  return {fit.id, s.tokens - s.computed, fit.reusable, 0};
}

/// Decides as the walk does if nobody is paused and every generating request gets its token; changes nothing and says
/// no otherwise.
bool TensorrtLlmScheduler::decide_at_once() {
  if (!capacity_.decide_at_once(view())) return false;
  batch_.clear();
  if (!batch_.add_generations(decodes_.size())) return false;
  for (const TrtCapacity::Fit& fit : capacity_.fits()) {
    if (batch_.add_context(context_of(fit))) continue;
    // Under MAX_UTILIZATION a prompt too long for the budget ends the step also for generating requests behind it.
    return !in_arrival_order() || decodes_.size() == 0 || decodes_.youngest() < table_.state(fit.id).admission;
  }
  return true;
}

void TensorrtLlmScheduler::decide_in_order() {
  capacity_.decide_in_order(view());
  for (const RequestId id : capacity_.paused()) pause(id);
  for_each_active([this](RequestId id) {
    SchedulerState& s = table_.state(id);
    s.starved = s.standing == Standing::kDecoding;
  });
  batch_.clear();
  for (const TrtCapacity::Fit& fit : capacity_.fits()) {
    if (!(fit.context ? batch_.add_context(context_of(fit)) : batch_.add_generations(1))) break;
    table_.state(fit.id).starved = false;
  }
  for_each_active([this](RequestId id) {
    if (table_.state(id).starved) plan_.starved.push_back(id);
  });
}

/// Batch waiting: prompts stay out of a step that generates as well, for some steps, while it would be a small one.
void TensorrtLlmScheduler::hold_prompts_back() {
  const std::int64_t generating = decodes_.size() - static_cast<std::int64_t>(plan_.starved.size());
  if (args_.batch_wait_timeout_iters <= 0 || batch_.contexts().empty() || generating == 0) return;
  Tokens tokens = generating;
  for (const TrtMicroBatch::Context& context : batch_.contexts()) tokens += table_.state(context.id).tokens;
  const double enough = args_.batch_wait_max_tokens_ratio * static_cast<double>(args_.max_num_tokens);
  if (held_back_steps_ >= args_.batch_wait_timeout_iters || static_cast<double>(tokens) >= enough) {
    held_back_steps_ = 0;
    return;
  }
  ++held_back_steps_;
  batch_.drop_contexts();
  unsettled_ = true;
}

// ---------------------------------------------------------------- carrying it out

void TensorrtLlmScheduler::give_chunk(const TrtMicroBatch::Context& context) {
  SchedulerState& s = table_.state(context.id);
  Tokens chunk = context.chunk;
  if (s.standing == Standing::kWaiting && !start_prompt(context.id, chunk)) {
    unsettled_ = true;
    ++short_prompts_;
    return;
  }
  if (!args_.enable_chunked_prefill && chunk > args_.max_num_tokens) ++long_prompts_;
  s.chunk = static_cast<std::int32_t>(chunk);
  plan_.prefill.push_back({chunk, s.computed});
  plan_.prefill_ids.push_back(context.id);
  plan_.tokens += chunk;
  if (s.computed + chunk == s.tokens) ++plan_.sampled;
}

/// Takes the blocks of the whole prompt. What the cache gives shortens the chunk, which then ends with a block again.
bool TensorrtLlmScheduler::start_prompt(RequestId id, Tokens& chunk) {
  SchedulerState& s = table_.state(id);
  const Tokens reused = kv_.add_sequence(id, s.tokens);
  if (reused < 0) return false;
  const Tokens end = reused + chunk;
  chunk = (end < s.tokens ? end / args_.tokens_per_block * args_.tokens_per_block : s.tokens) - reused;
  const bool resumed = s.preemptions > 0;
  if (kv_.reuses()) stats_.count(s.tokens, reused, resumed);
  if (resumed) {
    const Tokens again = std::max<Tokens>(0, s.lost - reused);
    s.recomputed += again;
    plan_.recomputed += again;
  } else {
    table_.record(id).cached_tokens = reused;
  }
  s.cached += reused;
  s.computed = reused;
  s.standing = Standing::kPrefilling;
  --pending_;
  plan_.admitted.push_back(id);
  return true;
}

/// A block for each generating request whose last one is full.
void TensorrtLlmScheduler::open_generated_blocks() {
  if (decodes_.size() == 0) return;
  if (plan_.starved.empty() && decodes_.new_blocks(0) <= kv_.free()) {
    generated_held_ += decodes_.new_blocks(0);
    return kv_.open(decodes_.new_blocks(0));
  }
  for (std::uint32_t at = active_.head(); at != kNone; at = table_.state(RequestId(at)).next) {
    const RequestId id(at);
    const SchedulerState& s = table_.state(id);
    if (s.standing != Standing::kDecoding || s.starved) continue;
    const std::int64_t tokens = decodes_.tokens(id);
    if (kv_.blocks(tokens) == kv_.blocks(tokens - 1)) continue;
    if (kv_.free() == 0) {
      pause(id);
      ++short_of_blocks_;
    } else {
      kv_.open(1);
      ++generated_held_;
    }
  }
}

void TensorrtLlmScheduler::complete_plan() {
  plan_.decode_requests = decodes_.size() - static_cast<std::int64_t>(plan_.starved.size());
  plan_.decode_context = decodes_.context();
  for (const RequestId id : plan_.starved) plan_.decode_context -= decodes_.tokens(id);
  plan_.tokens += plan_.decode_requests;
  plan_.sampled += plan_.decode_requests;
  plan_.requests = plan_.decode_requests + static_cast<std::int64_t>(plan_.prefill.size());
}

// ---------------------------------------------------------------- runs of alike steps

std::int64_t TensorrtLlmScheduler::certain_steps(Tokens last_context) {
  if (!plan_.preempted.empty() || unsettled_) return 1;
  // A prompt that fits but gets no tokens may stop fitting, and then somebody has to give way.
  const auto& fits = capacity_.fits();
  if (in_arrival_order() && std::any_of(fits.begin(), fits.end(), [](const auto& fit) { return fit.context; }))
    return 1;
  std::int64_t steps = decodes_.steps_to_first_end();
  const Tokens room = last_context - plan_.decode_context;
  steps = std::min(steps, room / decodes_.size() + 1);
  return 1 + decodes_.steps_within(kv_.free(), steps - 1);
}

/// Counts prompts that have started as well: one that a refused prompt keeps from going on may do so when that leaves.
bool TensorrtLlmScheduler::may_admit() {
  // By priority it matters when a request is fetched: those that come later are behind it for good.
  const bool fetches = !queue_.empty() && active_.size() < args_.max_batch_size;
  if (fetches && args_.waiting_queue_policy == TensorrtLlmArgs::WaitingQueuePolicy::kPriority) return true;
  if (args_.capacity_scheduler_policy == TensorrtLlmArgs::CapacityPolicy::kStaticBatch && decodes_.size() > 0)
    return false;
  // Whoever was refused still is: until a request ends, free blocks and what of its prompt is in use only become fewer.
  // Unless one before it has blocks reserved and got no tokens: if that leaves, others may get in.
  const auto& fits = capacity_.fits();
  const bool reserved = std::any_of(fits.begin(), fits.end(), [](const auto& fit) { return fit.context; });
  if (!reserved && capacity_.refused().valid()) return false;
  return !contexts_.empty() || fetches;
}

std::vector<Departure> TensorrtLlmScheduler::departures() const {
  const Departure all[] = {
      {"generating requests were paused for want of a block, where TensorRT-LLM fails", short_of_blocks_},
      {"times a prompt waited for want of blocks, where TensorRT-LLM fails", short_prompts_},
      {"paused prompts beyond max_num_tokens ran alone, which TensorRT-LLM never runs again", long_prompts_},
  };
  std::vector<Departure> departures;
  std::copy_if(std::begin(all), std::end(all), std::back_inserter(departures),
               [](const Departure& d) { return d.times > 0; });
  return departures;
}

// ---------------------------------------------------------------- the end of a step

bool TensorrtLlmScheduler::tell_cache(KvEvents* events) {
  kv_.tell(events);
  return true;
}

/// Generated blocks enter the tree when their request leaves; until then a run only takes blocks.
void TensorrtLlmScheduler::settle_cache(std::int64_t steps) {
  if (steps == 1 || !kv_.reuses()) return;
  const std::int64_t opened = decodes_.open_blocks(steps - 1).opened;
  kv_.open(opened - opened_);
  opened_ = opened;
}

const StepOutcome& TensorrtLlmScheduler::finish(std::int64_t steps) {
  outcome_.prefilled.clear();
  outcome_.ended.clear();
  outcome_.block_steps = steps * (kv_.usable() - kv_.free() - opened_);
  if (steps > 1) {
    const DecodeSet::BlockRun run = decodes_.open_blocks(steps - 1);
    outcome_.block_steps += run.increment;
    generated_held_ += run.opened;
    kv_.open(run.opened - opened_);
  }
  opened_ = 0;
  outcome_.blocks_used = kv_.usable() - kv_.free();
  for (const RequestId id : plan_.starved) {
    decodes_.hold_back(id);
    table_.state(id).starved = false;
  }
  decodes_.advance(steps);
  decodes_.take_ended(outcome_.ended);
  for (const RequestId id : outcome_.ended) note_stopped(id, table_.state(id).computed);

  for (const RequestId id : plan_.prefill_ids) {
    SchedulerState& s = table_.state(id);
    s.computed += s.chunk;
    if (s.computed < s.tokens) continue;
    leave_context(id);
    ++s.tokens;
    outcome_.prefilled.push_back(id);
    if (s.tokens >= s.end_tokens) {
      s.standing = Standing::kGone;
      outcome_.ended.push_back(id);
    } else {
      start_generating(id);
    }
  }
  end_requests();
  for (const RequestId id : plan_.prefill_ids) {
    const SchedulerState& s = table_.state(id);
    if (s.standing == Standing::kGone) continue;
    const Tokens computed = s.standing == Standing::kDecoding ? decodes_.tokens(id) - 1 : s.computed;
    kv_.store_prompt(id, computed);
  }
  return outcome_;
}

}  // namespace poolcast
