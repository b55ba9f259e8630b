// SPDX-License-Identifier: Apache-2.0
// Layouts, and the arguments of engines that repeat them.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::changed;
using poolcast::testing::fault;
using poolcast::testing::fault_of;

namespace {

/// The fault of the sound scenario with this layout and one more argument in its first pool.
std::string vllm_fault(const std::string& layout, const std::string& argument) {
  std::string text = changed("layout: {tp: 1}", "layout: " + layout);
  const std::string from = "8192}}\n    curves";
  return fault_of(text.replace(text.find(from), from.size(), "8192, " + argument + "}}\n    curves"));
}

std::string experts_fault(const std::string& layout) {
  std::string text = changed("layout: {tp: 1}", "layout: " + layout);
  return fault_of(text.replace(text.find("llama-3.1-8b"), 12, "qwen3-30b-a3b"));
}

/// With another engine and layout in the second pool.
std::string engine_fault(const std::string& layout, const std::string& engine) {
  return fault(R"(accelerator: mi300x
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}})",
               "accelerator: mi300x\n    layout: " + layout + "\n    engine: " + engine);
}

}  // namespace

TEST_CASE("more stages than layers is an error") {
  CHECK(fault("layout: {tp: 1}", "layout: {tp: 1, pp: 33}") ==
        R"(s.yaml:25:25: pools[0].layout.pp: pp 33 is above the 32 layers of llama-3.1-8b
    layout: {tp: 1, pp: 33}
                        ^)");
}

TEST_CASE("expert parallelism of a model without experts is an error") {
  CHECK(fault("layout: {tp: 1}", "layout: {tp: 1, ep: 2}") ==
        R"(s.yaml:25:25: pools[0].layout.ep: ep 2 needs experts, and llama-3.1-8b has none
    layout: {tp: 1, ep: 2}
                        ^)");
}

TEST_CASE("context parallelism is not modelled yet") {
  CHECK(fault("layout: {tp: 1}", "layout: {tp: 1, cp: 2}") ==
        R"(s.yaml:25:21: pools[0].layout.cp: this key is known but not modelled yet
    layout: {tp: 1, cp: 2}
                    ^)");
}

TEST_CASE("an argument that contradicts the layout is an error") {
  CHECK(
      vllm_fault("{tp: 1, pp: 2}", "pipeline_parallel_size: 4") ==
      R"(s.yaml:27:122: pools[0].engine.args.pipeline_parallel_size: contradicts the pool's layout, which has pp 2; leave it out
: 64, max_num_batched_tokens: 8192, pipeline_parallel_size: 4}}
                                                            ^)");
  CHECK(
      vllm_fault("{tp: 1, dp: 2}", "enable_expert_parallel: true") ==
      R"(s.yaml:27:122: pools[0].engine.args.enable_expert_parallel: contradicts the pool's layout, which has ep 1; the flag stands for ep 2
: 64, max_num_batched_tokens: 8192, enable_expert_parallel: true}}
                                                            ^)");
  CHECK(
      vllm_fault("{tp: 1, dp: 2}", "data_parallel_size: 1") ==
      R"(s.yaml:27:118: pools[0].engine.args.data_parallel_size: contradicts the pool's layout, which has dp 2; leave it out
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192, data_parallel_size: 1}}
                                                                                                                     ^)");
}

TEST_CASE("vLLM cuts experts over all devices of its ranks or over none") {
  CHECK(
      experts_fault("{tp: 1, dp: 2}") ==
      R"(s.yaml:27:49: pools[0].engine.args: with dp above 1 vLLM cuts each expert over all ranks unless enable_expert_parallel is set; that is not modelled yet: the layout needs ep 2 (tp * dp)
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
                                                ^)");
  CHECK(
      experts_fault("{tp: 4, dp: 2, ep: 4}") ==
      R"(s.yaml:27:49: pools[0].engine.args: vLLM has ep 1, or ep 8 (tp * dp) with enable_expert_parallel; the layout has ep 4
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
                                                ^)");
}

TEST_CASE("captured sizes and their maximum must agree, as vLLM demands") {
  CHECK(
      vllm_fault("{tp: 1}", "cudagraph_capture_sizes: [1, 8], max_cudagraph_capture_size: 16") ==
      R"(s.yaml:27:49: pools[0].engine.args: max_cudagraph_capture_size (16) must be the last of cudagraph_capture_sizes (8)
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192, cudagraph_capture_sizes
                                                ^)");
}

TEST_CASE("a routing skew needs experts, and is stated once") {
  CHECK(fault("curves: roofline", "curves: {roofline: {expert_imbalance: 1.5}}") ==
        R"(s.yaml:28:13: pools[0].curves: expert_imbalance needs experts, and llama-3.1-8b has none
    curves: {roofline: {expert_imbalance: 1.5}}
            ^)");
  CHECK(fault("curves: roofline", "curves: {roofline: {expert_imbalance: 1.5, expert_skew: 1}}") ==
        R"(s.yaml:28:61: pools[0].curves.roofline.expert_skew: expert_imbalance is stated, which it stands in for
    curves: {roofline: {expert_imbalance: 1.5, expert_skew: 1}}
                                                            ^)");
}

TEST_CASE("an engine whose pipelines or ranks are not modelled says so") {
  CHECK(engine_fault("{pp: 2}", "{kind: sglang, version: mainline-2026-07-20, args: {mem_fraction_static: 0.8}}") ==
        R"(s.yaml:32:18: pools[1].layout.pp: pipeline parallelism of sglang is not modelled yet: pp must be 1
    layout: {pp: 2}
                 ^)");
  CHECK(engine_fault("{dp: 2}", "{kind: tensorrt-llm, version: main-2026-05}") ==
        R"(s.yaml:32:18: pools[1].layout.dp: data parallelism of tensorrt-llm is not modelled yet: dp must be 1
    layout: {dp: 2}
                 ^)");
  CHECK(
      engine_fault("{pp: 2}", "{kind: tensorrt-llm, version: main-2026-05, args: {max_num_tokens: 4096}}") ==
      R"(s.yaml:33:63: pools[1].engine.args: with pp above 1 and without chunked prefill max_num_tokens (4096) must be at least max_seq_len (8192) here
    engine: {kind: tensorrt-llm, version: main-2026-05, args: {max_num_tokens: 4096}}
                                                              ^)");
}
