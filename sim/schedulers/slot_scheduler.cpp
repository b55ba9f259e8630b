// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/slot_scheduler.h"

#include <algorithm>

namespace poolcast {

SlotScheduler::SlotScheduler(const BucketedArgs& args, RequestTable& table, std::size_t groups)
    : table_(table),
      waiting_(VllmArgs::Policy::kFcfs, table),
      decodes_(args.max_model_len, table, groups),
      buckets_(args),
      slots_(args.max_num_seqs) {}

void SlotScheduler::enqueue(RequestId id) {
  SchedulerState& s = table_.state(id);
  s.tokens = s.prompt_tokens;
  s.standing = Standing::kWaiting;
  waiting_.add(id);
}

void SlotScheduler::abort(RequestId id) {
  SchedulerState& s = table_.state(id);
  if (s.standing == Standing::kWaiting) {
    s.standing = Standing::kGone;
    waiting_.remove(id);
    return;
  }
  decodes_.leave(id);  // between steps every prompt is done
  std::erase(order_, id);
}

const StepPlan& SlotScheduler::schedule() {
  plan_.clear();
  if (may_admit()) {
    plan_prompt();
  } else if (!order_.empty()) {
    plan_decodes();
  }
  return plan_;
}

void SlotScheduler::plan_prompt() {
  for (const RequestId id : order_) {
    table_.state(id).starved = true;
    plan_.starved.push_back(id);
  }
  const RequestId id = waiting_.front();
  waiting_.pop();
  SchedulerState& s = table_.state(id);
  s.standing = Standing::kPrefilling;
  s.admission = table_.next_admission();
  s.computed = 0;
  order_.push_back(id);
  plan_.tokens = s.tokens;
  plan_.requests = plan_.sampled = 1;
  plan_.prefill.push_back({s.tokens, 0});
  plan_.prefill_ids.push_back(id);
  plan_.admitted.push_back(id);
  buckets_.pad_prompt(plan_);
}

void SlotScheduler::plan_decodes() {
  plan_.tokens = plan_.requests = plan_.sampled = plan_.decode_requests = decodes_.size();
  plan_.decode_context = decodes_.context();
  buckets_.pad_decodes(plan_, longest());
}

/// The longest sequence, the token of the next step included.
Tokens SlotScheduler::longest() const {
  Tokens most = 0;
  for (const RequestId id : order_) most = std::max(most, decodes_.tokens(id));
  return most;
}

std::int64_t SlotScheduler::certain_steps(Tokens) {
  return std::min(decodes_.steps_to_first_end(), buckets_.steps_in_bucket(longest()));
}

const StepOutcome& SlotScheduler::finish(std::int64_t steps) {
  outcome_.prefilled.clear();
  outcome_.ended.clear();
  outcome_.blocks_used = running();
  outcome_.block_steps = steps * running();
  if (plan_.prefill_ids.empty()) decodes_.advance(steps);
  decodes_.take_ended(outcome_.ended);
  for (const RequestId id : plan_.starved) table_.state(id).starved = false;
  for (const RequestId id : plan_.prefill_ids) {
    SchedulerState& s = table_.state(id);
    s.computed = s.tokens++;
    outcome_.prefilled.push_back(id);
    if (s.tokens < s.end_tokens) {
      decodes_.join(id);
    } else {
      s.standing = Standing::kGone;
      outcome_.ended.push_back(id);
    }
  }
  for (const RequestId id : outcome_.ended) std::erase(order_, id);
  return outcome_;
}

std::vector<RequestId> SlotScheduler::take_all() {
  std::vector<RequestId> held = order_;
  for (const RequestId id : held) abort(id);
  while (!waiting_.empty()) {
    held.push_back(waiting_.front());
    waiting_.pop();
    table_.state(held.back()).standing = Standing::kGone;
  }
  return held;
}

}  // namespace poolcast
