// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM's rules worked out by hand, step by step: blocks of 4 tokens unless a case says otherwise, no overlap.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/support/worlds.h"
#include "tests/units/sim/tensorrt_llm_bench.h"

using namespace poolcast;
using namespace poolcast::testing;

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
