// SPDX-License-Identifier: Apache-2.0
// Reuse of blocks in TensorRT-LLM worked out by hand, step by step: blocks of 4 tokens, no overlap.
#include <catch2/catch.hpp>

#include "tests/units/sim/tensorrt_llm_bench.h"

using namespace poolcast;
using namespace poolcast::testing;

using Policy = TensorrtLlmArgs::CapacityPolicy;

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
