// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM's rules worked out by hand, step by step: blocks of 4 tokens unless a case says otherwise, no overlap.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/schedulers/tensorrt_llm.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

using Policy = TensorrtLlmArgs::CapacityPolicy;

TensorrtLlmArgs small(std::int64_t blocks, Policy policy = Policy::kGuaranteedNoEvict) {
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

}  // namespace

// ---------------------------------------------------------------- capacity

TEST_CASE("GUARANTEED_NO_EVICT reserves whole sequences, and nobody overtakes the first that does not fit") {
  Bench e(small(9));
  e.add(8, 8);  // a: 4 blocks
  e.add(9, 8);  // b: 5 blocks
  e.add(1, 1);  // c: 1 block: 9 are reserved
  CHECK(e.step() == "a[0+8] b[0+9] | |");
  CHECK(e.free() == 4);
  for (int i = 0; i < 6; ++i) CHECK(e.step() == " | a b |");
  CHECK(e.step() == " | a b |");  // the eighth tokens
  CHECK(e.ended == "ab");
  CHECK(e.free() == 9);
  CHECK(e.step() == "c[0+1] | |");
}

TEST_CASE("the last token is reserved for though it is never stored") {
  Bench e(small(5));
  e.add(4, 5);  // a: 9 tokens, 3 blocks, of which 2 will ever be used
  e.add(4, 5);  // b
  CHECK(e.step() == "a[0+4] | |");
  for (int i = 0; i < 4; ++i) e.step();
  CHECK(e.ended == "a");
  CHECK(e.step() == "b[0+4] | |");
}

TEST_CASE("MAX_UTILIZATION pauses the latest, which keeps its place and computes everything again") {
  Bench e(small(4, Policy::kMaxUtilization));
  e.add(7, 8);  // a
  e.add(7, 8);  // b
  CHECK(e.step() == "a[0+7] b[0+7] | |");
  CHECK(e.step() == " | a b |");  // 8 tokens: the blocks are full
  CHECK(e.step() == " | a | -b");
  CHECK(e.free() == 1);
  e.add(2, 2);  // c would fit, but stands behind b, who has 9 tokens now and needs 3 blocks
  for (int i = 0; i < 5; ++i) CHECK(e.step() == " | a |");
  CHECK(e.ended == "a");
  CHECK(e.step() == "b[0+9] c[0+2] | |");
  CHECK(e.table.state(RequestId(1u)).preemptions == 1);
}

TEST_CASE("MAX_UTILIZATION pauses whoever asks when nobody later has started") {
  Bench e(small(3, Policy::kMaxUtilization));
  e.add(4, 8);  // a
  e.add(4, 8);  // b
  CHECK(e.step() == "a[0+4] b[0+4] | |");
  CHECK(e.step() == " | a | -b");  // a took the third block
  CHECK(e.free() == 1);
}

TEST_CASE("under MAX_UTILIZATION a prompt beyond the budget also stops the generating requests behind it") {
  TensorrtLlmArgs args = small(64, Policy::kMaxUtilization);
  args.enable_block_reuse = true;
  args.max_num_tokens = 8;
  const bool literally = GENERATE(false, true);
  Bench e(args);
  e.add(4, 3, {{1, 0, 4}});
  e.add(12, 3, {{1, 0, 4}, {2, 0, 8}});
  e.add(4, 3);
  CHECK(e.step(literally) == "a[0+4] c[0+4] | |");  // b waits for the block of a
  CHECK(e.step(literally) == " | a |");             // 1 + 8 for b is too much, so c is not looked at
  CHECK(e.step(literally) == " | a |");
  CHECK(e.ended == "a");
  CHECK(e.step(literally) == "b[4+8] | |");
  CHECK(e.step(literally) == " | b c |");
}

TEST_CASE("a prompt for whom somebody was paused meets its own missing block again and waits one step more") {
  TensorrtLlmArgs args = small(6, Policy::kMaxUtilization);
  args.enable_block_reuse = true;
  const bool literally = GENERATE(false, true);
  Bench e(args);
  e.add(4, 6, {{1, 0, 4}});
  e.add(16, 6, {{1, 0, 4}, {2, 0, 12}});
  e.add(8, 6);
  CHECK(e.step(literally) == "a[0+4] c[0+8] | |");
  CHECK(e.step(literally) == " | a | -c");  // 1 for a and 3 for b are more than the 3 that are free
  CHECK(e.scheduler.capacity().skipped() == std::vector<RequestId>{RequestId(1u)});
  CHECK(e.step(literally) == "b[4+12] | a |");
}

TEST_CASE("so does a prompt whose blocks nobody else can ask for") {
  TensorrtLlmArgs args = small(6, Policy::kMaxUtilization);
  args.enable_block_reuse = args.enable_chunked_prefill = true;
  args.max_num_tokens = 4;
  const bool literally = GENERATE(false, true);
  Bench e(args);
  e.add(3, 6);
  e.add(16, 6);
  e.add(1, 6);
  CHECK(e.step(literally) == "a[0+3] c[0+1] | |");  // one token is left, no whole unit for b
  CHECK(e.step(literally) == " | a c |");
  CHECK(e.step(literally) == " | a | -c");  // 1 for a and 4 for b of 4
  CHECK(e.scheduler.capacity().skipped() == std::vector<RequestId>{RequestId(1u)});
}

TEST_CASE("STATIC_BATCH lets nobody in while anyone generates") {
  TensorrtLlmArgs args = small(64, Policy::kStaticBatch);
  Bench e(args);
  e.add(4, 2);
  CHECK(e.step() == "a[0+4] | |");
  e.add(4, 2);
  CHECK(e.step() == " | a |");
  CHECK(e.ended == "a");
  CHECK(e.step() == "b[0+4] | |");
}

TEST_CASE("no more requests are fetched than max_batch_size, by priority if asked") {
  TensorrtLlmArgs args = small(64);
  args.max_batch_size = 2;
  args.waiting_queue_policy = TensorrtLlmArgs::WaitingQueuePolicy::kPriority;
  Bench e(args);
  e.add(4, 2, {}, 2);
  e.add(4, 2, {}, 1);
  e.add(4, 2, {}, 0);
  CHECK(e.step() == "c[0+4] b[0+4] | |");
  CHECK(e.scheduler.waiting() == 1);
}

TEST_CASE("with overlap an ended request keeps its slot and its blocks for one more step") {
  TensorrtLlmArgs args = small(64);
  args.max_batch_size = 1;
  args.disable_overlap_scheduler = GENERATE(false, true);
  args.capacity_scheduler_policy = GENERATE(Policy::kGuaranteedNoEvict, Policy::kMaxUtilization);
  Bench e(args);
  e.add(4, 2);
  e.add(4, 2);
  CHECK(e.step() == "a[0+4] | |");
  CHECK(e.step() == " | a |");
  CHECK(e.free() == (args.disable_overlap_scheduler ? 64 : 62));
  // Nothing can run in the step that only notices the end, so it costs no time.
  CHECK(e.step() == "b[0+4] | |");
  CHECK(e.free() == 63);
}

TEST_CASE("with overlap a request that generates goes on while the next one waits for the slot") {
  TensorrtLlmArgs args = small(64);
  args.max_batch_size = 2;
  args.disable_overlap_scheduler = false;
  Bench e(args);
  e.add(4, 5);
  e.add(4, 1);
  e.add(4, 1);
  CHECK(e.step() == "a[0+4] b[0+4] | |");
  CHECK(e.ended == "b");
  CHECK(e.step() == " | a |");
  CHECK(e.scheduler.waiting() == 1);
  CHECK(e.step() == "c[0+4] | a |");
}

TEST_CASE("what an ended request would still have asked for stays reserved while its end is not noticed") {
  TensorrtLlmArgs args = small(9);
  args.disable_overlap_scheduler = GENERATE(false, true);
  Bench e(args);
  e.add(4, 9);   // a: 4 blocks reserved, 3 used in the end
  e.add(4, 12);  // b: 4 blocks
  e.add(4, 1);   // c: 2 blocks, of which 1 is left
  CHECK(e.step() == "a[0+4] b[0+4] | |");
  for (int i = 0; i < 8; ++i) CHECK(e.step() == " | a b |");
  CHECK(e.ended == "a");
  // With overlap 3 blocks are free now; b will ask for one of them, and a might have asked for one.
  if (!args.disable_overlap_scheduler) CHECK(e.step() == " | b |");
  CHECK(e.step() == "c[0+4] | b |");
}

// ---------------------------------------------------------------- tokens of a step

TEST_CASE("without chunks the first prompt that exceeds the budget ends the step") {
  TensorrtLlmArgs args = small(64);
  args.max_num_tokens = 12;
  Bench e(args);
  e.add(8, 3);
  e.add(5, 3);
  e.add(4, 3);
  CHECK(e.step() == "a[0+8] | |");
  CHECK(e.step() == "b[0+5] c[0+4] | a |");
}

TEST_CASE("chunks: generating requests first, then prompts in order, whole units unless they end, ending ones last") {
  TensorrtLlmArgs args = small(64);
  args.enable_chunked_prefill = true;
  args.max_num_tokens = 15;
  Bench e(args);
  e.add(4, 9);
  CHECK(e.step() == "a[0+4] | |");
  e.add(20, 2);  // b
  e.add(3, 2);   // c
  e.add(9, 2);   // d
  // 14 left: 12 for b, 2 for c would be less than a unit, and nothing for d.
  CHECK(e.step() == "b[0+12] | a |");
  // 14 left: b ends with 8, c fits whole, d gets nothing from 3.
  CHECK(e.step() == "b[12+8] c[0+3] | a |");
  CHECK(e.step() == "d[0+9] | a b c |");
}

TEST_CASE("equal progress gives one unit to each in turn") {
  TensorrtLlmArgs args = small(64);
  args.enable_chunked_prefill = true;
  args.context_chunking_policy = TensorrtLlmArgs::ChunkingPolicy::kEqualProgress;
  args.max_num_tokens = 13;
  args.chunk_unit_size = GENERATE(0, 4);
  Bench e(args);
  e.add(20, 2);                                   // a
  e.add(2, 2);                                    // b: done with one turn
  e.add(20, 2);                                   // c
  CHECK(e.step() == "a[0+4] c[0+4] b[0+2] | |");  // 10; another unit would make 14
  CHECK(e.step() == "a[4+8] c[4+4] | b |");
}

TEST_CASE("batch waiting holds prompts back for some steps, until the step is large enough") {
  TensorrtLlmArgs args = small(64);
  args.batch_wait_timeout_iters = 2;
  args.batch_wait_max_tokens_ratio = 0.25;  // 16 tokens
  Bench e(args);
  e.add(4, 9);
  CHECK(e.step() == "a[0+4] | |");  // nothing generates
  e.add(4, 9);
  CHECK(e.step() == " | a |");
  CHECK(e.step() == " | a |");
  CHECK(e.step() == "b[0+4] | a |");
  e.add(14, 1);
  CHECK(e.step() == "c[0+14] | a b |");
}

// ---------------------------------------------------------------- reuse

TEST_CASE("a prompt finds the blocks of another one step later, and waits for them until then") {
  TensorrtLlmArgs args = small(64);
  args.enable_block_reuse = true;
  args.enable_prefix_aware_scheduling = GENERATE(true, false);
  Bench e(args);
  e.add(10, 5, {{1, 0, 10}});
  e.add(11, 5, {{1, 0, 8}, {2, 0, 3}});
  if (args.enable_prefix_aware_scheduling) {
    CHECK(e.step() == "a[0+10] | |");
    CHECK(e.step() == "b[8+3] | a |");
    CHECK(e.scheduler.prefix_stats().hits == 8);
  } else {
    CHECK(e.step() == "a[0+10] b[0+11] | |");
  }
}

TEST_CASE("the last token of a prompt is always computed, so its block is not shared") {
  TensorrtLlmArgs args = small(64);
  args.enable_block_reuse = true;
  args.enable_partial_reuse = GENERATE(false, true);
  Bench e(args);
  e.add(12, 1, {{1, 0, 12}});
  CHECK(e.step() == "a[0+12] | |");
  e.add(12, 1, {{1, 0, 12}});
  CHECK(e.step() == (args.enable_partial_reuse ? "b[11+1] | |" : "b[8+4] | |"));
}

TEST_CASE("in part: a block that nobody uses is taken over, one in use is copied") {
  TensorrtLlmArgs args = small(64);
  args.enable_block_reuse = args.enable_partial_reuse = true;
  const bool in_use = GENERATE(true, false);
  Bench e(args);
  e.add(8, in_use ? 9 : 1, {{1, 0, 8}});
  CHECK(e.step() == "a[0+8] | |");
  e.add(8, 9, {{1, 0, 6}, {2, 0, 2}});
  CHECK(e.step() == (in_use ? "b[6+2] | a |" : "b[6+2] | |"));
  e.add(8, 9, {{1, 0, 8}});
  // The second block of a is still there only if it was copied; b's own begins with the same two tokens.
  CHECK(e.step().substr(0, 6) == (in_use ? "c[7+1]" : "c[6+2]"));
}

TEST_CASE("generated tokens can be found once their request has left") {
  TensorrtLlmArgs args = small(64);
  args.enable_block_reuse = true;
  const bool left = GENERATE(false, true);
  Bench e(args);
  const RequestId a = e.add(4, 8, {{1, 0, 4}});
  e.table.content(a).output = 7;
  for (int i = 0; i < (left ? 8 : 7); ++i) e.step();
  CHECK(e.ended == (left ? "a" : ""));
  e.add(9, 1, {{1, 0, 4}, {7, 0, 5}});
  CHECK(e.step() == (left ? "b[8+1] | |" : "b[4+5] | a |"));
}

TEST_CASE("free blocks are taken oldest first, and a block takes everything below it out of the tree") {
  TensorrtLlmArgs args = small(6);
  args.enable_block_reuse = true;
  Bench e(args);
  e.add(8, 1, {{1, 0, 8}});
  e.step();
  e.add(8, 1, {{2, 0, 8}});
  e.step();
  e.add(9, 1, {{3, 0, 9}});  // two blocks never used, then the tail block of a
  e.step();
  e.add(8, 1, {{1, 0, 8}});
  CHECK(e.step() == "d[4+4] | |");  // a's first block is left
  e.add(8, 1, {{2, 0, 8}});
  CHECK(e.step() == "e[4+4] | |");  // d took b's second block
}

TEST_CASE("a paused request finds its own blocks again, as far as nobody has taken them") {
  TensorrtLlmArgs args = small(4, Policy::kMaxUtilization);
  args.enable_block_reuse = true;
  Bench e(args);
  e.add(7, 6);
  e.add(7, 6);
  CHECK(e.step() == "a[0+7] b[0+7] | |");
  CHECK(e.step() == " | a b |");
  CHECK(e.step() == " | a | -b");  // both blocks of b are full; a takes the second
  for (int i = 0; i < 3; ++i) CHECK(e.step() == " | a |");
  CHECK(e.ended == "a");
  CHECK(e.step() == "b[4+5] | |");
  CHECK(e.table.state(RequestId(1u)).recomputed == 4);  // it had lost 8
}

TEST_CASE("a generating request that finds no block is paused itself, even under GUARANTEED_NO_EVICT") {
  // Both prompts are two full blocks. The credit for b is both blocks of a, but its last token is computed, so its
  // second block is its own: one block too few is reserved.
  TensorrtLlmArgs args = small(4);
  args.enable_block_reuse = true;
  const bool literally = GENERATE(false, true);
  Bench e(args);
  e.add(8, 4, {{1, 0, 8}});
  CHECK(e.step(literally) == "a[0+8] | |");  // 3 reserved, 2 held
  e.add(8, 4, {{1, 0, 8}});                  // 3 - 2, and one is left
  CHECK(e.step(literally) == "b[4+4] | a |");
  CHECK(e.free() == 0);
  CHECK(e.step(literally) == " | a | -b");
  CHECK(e.free() == 1);
  CHECK(e.step(literally) == "b[8+1] | a |");
  REQUIRE(e.scheduler.departures().size() == 1);
  CHECK(e.scheduler.departures()[0].times == 1);
}

TEST_CASE("a paused prompt that has outgrown the budget runs alone") {
  TensorrtLlmArgs args = small(4, Policy::kMaxUtilization);
  args.max_num_tokens = 8;
  const bool literally = GENERATE(false, true);
  Bench e(args);
  e.add(4, 10);
  e.add(4, 10);
  CHECK(e.step(literally) == "a[0+4] b[0+4] | |");
  for (int i = 0; i < 4; ++i) CHECK(e.step(literally) == " | a b |");
  CHECK(e.step(literally) == " | a | -b");  // of 9 tokens
  e.add(1, 2);
  for (int i = 0; i < 4; ++i) CHECK(e.step(literally) == " | a |");
  CHECK(e.ended == "a");
  CHECK(e.step(literally) == "b[0+9] | |");
  CHECK(e.step(literally) == "c[0+1] | b |");
  REQUIRE(e.scheduler.departures().size() == 1);
}

// ---------------------------------------------------------------- in the simulation

TEST_CASE("TensorRT-LLM refuses what could never fit: whole sequences where they are reserved") {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  TensorrtLlmArgs args = small(4, GENERATE(Policy::kGuaranteedNoEvict, Policy::kMaxUtilization));
  spec.pools[0].engine = args;
  add_list(spec, {arrival(0, 8, 9), arrival(1, 8, 8), arrival(2, 65, 1)});
  Recorder recorder;
  simulate(std::move(spec), {&recorder});
  const bool reserved = args.capacity_scheduler_policy == Policy::kGuaranteedNoEvict;
  for (const RequestRecord& r : recorder.records) {
    if (r.row == 0) CHECK(r.outcome == (reserved ? Outcome::kRejected : Outcome::kCompleted));
    if (r.row == 1) CHECK(r.outcome == Outcome::kCompleted);
    if (r.row == 2) CHECK(r.reason == Reason::kTokenBudget);
  }
}
