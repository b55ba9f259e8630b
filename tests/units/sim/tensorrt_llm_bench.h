// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/schedulers/tensorrt_llm.h"

namespace poolcast::testing {

using Policy = TensorrtLlmArgs::CapacityPolicy;

inline TensorrtLlmArgs small(std::int64_t blocks, Policy policy = Policy::kGuaranteedNoEvict) {
  TensorrtLlmArgs args;
  args.tokens_per_block = 4;
  args.num_blocks = blocks;
  args.max_batch_size = 8;
  args.max_num_tokens = 64;
  args.enable_block_reuse = false;
  args.enable_partial_reuse = false;
  args.disable_overlap_scheduler = true;
  args.capacity_scheduler_policy = policy;
  return args;
}

/// One engine by itself. Requests are named a, b, c … in the order in which they are added.
struct Bench {
  explicit Bench(const TensorrtLlmArgs& args) : scheduler(args, table, 1) {}

  RequestId add(std::int64_t prompt, std::int64_t output, std::vector<Segment> content = {},
                std::int32_t priority = 0) {
    const RequestId id = table.create();
    SchedulerState& s = table.state(id);
    s.prompt_tokens = prompt;
    s.end_tokens = prompt + output;
    s.rank = id.value;
    s.priority = priority;
    table.content(id).prompt = std::move(content);
    scheduler.enqueue(id);
    return id;
  }

  static char name(RequestId id) { return static_cast<char>('a' + id.value); }

  /// "a[0+8] b[0+8] | c d | -e": prompts with context and chunk, who generates, who was paused; then the step ends.
  std::string step(bool literally = false) {
    const StepPlan& plan = literally ? scheduler.schedule_literally() : scheduler.schedule();
    std::string text;
    for (std::size_t i = 0; i < plan.prefill.size(); ++i) {
      if (i > 0) text += ' ';
      text += name(plan.prefill_ids[i]);
      text += '[' + std::to_string(plan.prefill[i].context);
      text += '+' + std::to_string(plan.prefill[i].query) + ']';
    }
    text += " |";
    scheduler.for_each_active([&](RequestId id) {
      const SchedulerState& s = table.state(id);
      if (s.standing == Standing::kDecoding && !s.starved) text.append(1, ' ').append(1, name(id));
    });
    text += " |";
    for (const StepPlan::Preempted& p : plan.preempted) text.append(" -").append(1, name(p.id));
    ended.clear();
    if (plan.tokens > 0) {
      for (const RequestId id : scheduler.finish(1).ended) ended += name(id);
    }
    return text;
  }
  std::int64_t free() const { return scheduler.free_blocks(); }

  RequestTable table;
  TensorrtLlmScheduler scheduler;
  std::string ended;
};

}  // namespace poolcast::testing
