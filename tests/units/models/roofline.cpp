// SPDX-License-Identifier: Apache-2.0
#include "models/roofline.h"

#include <catch2/catch.hpp>

#include "models/error.h"
#include "tests/units/models/shapes.h"

namespace poolcast {
namespace {

using namespace test;

constexpr double kFast = 1e30;  // a resource that never limits

TEST_CASE("linear layers take the time of reading their weights when memory limits") {
  const auto curve = make_roofline(machine(kFast, 1e6), tiny(), {}, ideal());
  // 90,000 weights * 2 B; in and out of qkv 300, o 200, gate and up 500, down 300 values * 2 B; norms 8 * 100 * 2 B.
  CHECK(term(*curve, decode(1, 0), "linear layers") == Approx((180'000 + 2'600 + 1'600) / 1e6));
  CHECK(term(*curve, decode(10, 0), "linear layers") == Approx((180'000 + 26'000 + 16'000) / 1e6));
}

TEST_CASE("linear layers take two operations per weight and token when compute limits") {
  const auto curve = make_roofline(machine(1e6, kFast), tiny(), {}, ideal());
  CHECK(term(*curve, decode(7, 0), "linear layers") == Approx(7 * 2 * 90'000 / 1e6));
}

TEST_CASE("efficiencies and precisions scale what they name") {
  RooflineOptions options = ideal();
  options.memory_efficiency = 0.5;
  const auto memory = make_roofline(machine(kFast, 1e6), tiny(), {}, options);
  CHECK(term(*memory, decode(1, 0), "linear layers") == Approx(2 * 184'200 / 1e6));

  options = ideal();
  options.compute_efficiency = 0.25;
  const auto compute = make_roofline(machine(1e6, kFast), tiny(), {}, options);
  CHECK(term(*compute, decode(1, 0), "linear layers") == Approx(4 * 180'000 / 1e6));

  // Weight-only fp8: half the bytes, the bf16 unit.
  options = ideal();
  options.weights = Precision::kFp8;
  options.compute = Precision::kBf16;
  const auto narrow = make_roofline(machine(kFast, 1e6), tiny(), {}, options);
  CHECK(term(*narrow, decode(1, 0), "linear layers") == Approx((90'000 + 2'600 + 1'600) / 1e6));
}

TEST_CASE("decode attention reads the KV cache of all contexts") {
  const auto curve = make_roofline(machine(kFast, 1e6), tiny(), {}, ideal());
  // 200 B a token of context; queries and outputs 2 * 100 values * 2 B a request.
  CHECK(term(*curve, decode(3, 50), "decode attention") == Approx((50 * 200 + 3 * 400) / 1e6));
  const DecodeLine line = curve->decode_line(3, 50);
  CHECK(line.slope_s_per_token == Approx(200 / 1e6));
  CHECK(line.last_context == std::numeric_limits<Tokens>::max());
}

TEST_CASE("decode attention changes from its memory line to its compute line at the crossing") {
  // Compute 400 FLOP at 1 FLOP/s, memory 200 B at 1 B/s, per token of context; io 400 B a request: crossing at S = 2 B.
  const auto curve = make_roofline(machine(1, 1), tiny(), {}, ideal());
  const DecodeLine before = curve->decode_line(4, 8);
  CHECK(before.slope_s_per_token == Approx(200));
  CHECK(before.last_context == 8);
  const DecodeLine after = curve->decode_line(4, 9);
  CHECK(after.slope_s_per_token == Approx(400));
  CHECK(after.last_context == std::numeric_limits<Tokens>::max());
  CHECK(term(*curve, decode(4, 8), "decode attention") == Approx(200 * 8 + 4 * 400));
  CHECK(term(*curve, decode(4, 9), "decode attention") == Approx(400 * 9));
}

TEST_CASE("prefill attention is causal over its own tokens and full over the context before") {
  const PrefillChunk chunk{4, 10};
  StepShape shape;
  shape.tokens = 4;
  shape.prefill = {&chunk, 1};
  // Pairs: 4 * 10 + 4 * 5 / 2 = 50, 400 FLOP each.
  const auto compute = make_roofline(machine(1e3, kFast), tiny(), {}, ideal());
  CHECK(term(*compute, shape, "prefill attention") == Approx(50 * 400 / 1e3));
  // 14 tokens of KV at 200 B; 4 queries and outputs of 400 B.
  const auto memory = make_roofline(machine(kFast, 1e3), tiny(), {}, ideal());
  CHECK(term(*memory, shape, "prefill attention") == Approx((14 * 200 + 4 * 400) / 1e3));
}

TEST_CASE("latent attention works on the latent in decode and expands the context in prefill") {
  const auto memory = make_roofline(machine(kFast, 1e3), tiny_mla(), {}, ideal());
  // 48 B of latent and rotary key a token; queries 24 and outputs 20 values for each of 10 heads.
  CHECK(term(*memory, decode(2, 100), "decode attention") == Approx((100 * 48 + 2 * 10 * 44 * 2) / 1e3));
  const auto compute = make_roofline(machine(1e3, kFast), tiny_mla(), {}, ideal());
  CHECK(term(*compute, decode(2, 100), "decode attention") == Approx(100 * 2 * 10 * 44 / 1e3));
  const PrefillChunk chunk{4, 10};
  StepShape shape;
  shape.tokens = 4;
  shape.prefill = {&chunk, 1};
  // 50 pairs of 2 * 10 * (12 + 6) FLOP; 10 latents expanded at 2 * 20 * 10 * (8 + 6).
  CHECK(term(*compute, shape, "prefill attention") == Approx((50 * 360 + 10 * 5600) / 1e3));
}

TEST_CASE("experts: the weights of those that random tokens touch are read") {
  const auto curve = make_roofline(machine(kFast, 1e6), tiny_moe(), {}, ideal());
  // One token touches 2 of 8; 2 pairs move (100 + 100) + (50 + 100) values.
  CHECK(term(*curve, decode(1, 0), "experts") == Approx((2 * 15'000 * 2 + 2 * 350 * 2) / 1e6));
  // Two tokens touch 8 (1 - 0.75^2) = 3.5.
  CHECK(term(*curve, decode(2, 0), "experts") == Approx((3.5 * 15'000 * 2 + 4 * 350 * 2) / 1e6));
  // Compute counts the pairs only.
  const auto compute = make_roofline(machine(1e6, kFast), tiny_moe(), {}, ideal());
  CHECK(term(*compute, decode(5, 0), "experts") == Approx(5 * 2 * 2 * 15'000 / 1e6));
  // Attention 30,000 and router 800 remain in the linear layers.
  CHECK(term(*compute, decode(5, 0), "linear layers") == Approx(5 * 2 * 30'800 / 1e6));
}

TEST_CASE("tensor parallelism adds two ring all-reduces a layer and cuts the rest") {
  RooflineOptions options = ideal();
  const auto curve = make_roofline(machine(kFast, kFast, 1e3), tiny(), {5}, options);
  // 2 * 4/5 of 3 tokens * 100 values * 2 B, twice.
  CHECK(term(*curve, decode(3, 0), "all-reduce") == Approx(2 * 1.6 * 600 / 1e3));
  options.link_latency = Seconds(1e-3);
  const auto slow = make_roofline(machine(kFast, kFast, kFast), tiny(), {5}, options);
  CHECK(term(*slow, decode(3, 0), "all-reduce") == Approx(2 * 8 * 1e-3));
  const auto whole = make_roofline(machine(1e6, kFast), tiny(), {1}, ideal());
  const auto fifth = make_roofline(machine(1e6, kFast, kFast), tiny(), {5}, ideal());
  CHECK(term(*whole, decode(3, 9), "linear layers") == Approx(5 * term(*fifth, decode(3, 9), "linear layers")));
  CHECK(term(*whole, decode(3, 9), "decode attention") == Approx(5 * term(*fifth, decode(3, 9), "decode attention")));
}

TEST_CASE("a sharded head gathers its logits over the links") {
  RooflineOptions options = ideal();
  const auto links = make_roofline(machine(kFast, kFast, 1e3), tiny(), {5}, options);
  // 4/5 of 3 tokens * 1,000 logits * 2 B.
  CHECK(term(*links, decode(3, 0), "head and sampling") == Approx(0.8 * 6'000 / 1e3));
  options.link_latency = Seconds(1e-3);
  const auto hops = make_roofline(machine(kFast, kFast, kFast), tiny(), {5}, options);
  CHECK(term(*hops, decode(3, 0), "head and sampling") == Approx(4e-3));
}

TEST_CASE("shared experts are dense work beside the routed ones") {
  TransformerShape shape = tiny_moe();
  shape.moe->shared_experts = 3;
  const auto curve = make_roofline(machine(1e6, kFast), shape, {}, ideal());
  // Attention 30,000, router 800, three shared experts of 15,000.
  CHECK(term(*curve, decode(5, 0), "linear layers") == Approx(5 * 2 * (30'800 + 45'000) / 1e6));
  CHECK(term(*curve, decode(5, 0), "experts") == Approx(5 * 2 * 2 * 15'000 / 1e6));
}

TEST_CASE("each efficiency reaches the terms that it is about") {
  RooflineOptions options = ideal();
  options.attention_efficiency = 0.5;
  const auto attention = make_roofline(machine(1e3, kFast), tiny(), {}, options);
  CHECK(term(*attention, decode(1, 50), "decode attention") == Approx(2 * 50 * 400 / 1e3));
  CHECK(term(*attention, decode(1, 50), "linear layers") == Approx(180'000 / 1e3));
  options = ideal();
  options.link_efficiency = 0.5;
  const auto links = make_roofline(machine(kFast, kFast, 1e3), tiny(), {5}, options);
  CHECK(term(*links, decode(3, 0), "all-reduce") == Approx(2 * 2 * 1.6 * 600 / 1e3));
}

TEST_CASE("the head runs for sampled tokens only") {
  const auto curve = make_roofline(machine(kFast, 1e6), tiny(), {}, ideal());
  StepShape shape = decode(4, 0);
  // 100 * 1000 weights, 4 * 1100 values, 2 B each; logits 4 * 1000 * 8 B.
  CHECK(term(*curve, shape, "head and sampling") == Approx((200'000 + 8'800 + 32'000) / 1e6));
  shape.sampled = 0;
  CHECK(term(*curve, shape, "head and sampling") == 0);
}

TEST_CASE("the host costs a base and a part for each request, chunks included") {
  RooflineOptions options = ideal();
  options.host_base = Seconds(2);
  options.host_per_request = Seconds(0.5);
  const auto curve = make_roofline(machine(kFast, kFast), tiny(), {}, options);
  const PrefillChunk chunks[] = {{4, 0}, {2, 0}};
  StepShape shape = decode(3, 9);
  shape.tokens = 9;
  shape.prefill = chunks;
  CHECK(curve->step(shape).value == Approx(2 + 5 * 0.5));
}

TEST_CASE("a figure that is missing stops the roofline only when it is needed") {
  Accelerator accelerator = machine(1e12, 1e12);
  accelerator.link_bandwidth.value.reset();
  accelerator.link_bandwidth.note = "not published";
  CHECK_NOTHROW(make_roofline(accelerator, tiny(), {1}));
  CHECK_THROWS_WITH(make_roofline(accelerator, tiny(), {5}),
                    "scale-up link bandwidth of test-machine is missing: no source states it; a scenario may state it "
                    "itself (not published)");
  RooflineOptions fp8;
  fp8.weights = Precision::kFp8;
  CHECK_THROWS_WITH(make_roofline(accelerator, tiny(), {1}, fp8), Catch::StartsWith("peak fp8 rate of test-machine"));
  fp8.compute = Precision::kBf16;
  CHECK_NOTHROW(make_roofline(accelerator, tiny(), {1}, fp8));
  accelerator.memory_bandwidth.value.reset();
  CHECK_THROWS_AS(make_roofline(accelerator, tiny(), {1}), MissingFigure);
}

TEST_CASE("options outside their range are refused") {
  RooflineOptions options;
  options.compute_efficiency = 1.2;
  CHECK_THROWS_WITH(make_roofline(machine(1, 1), tiny(), {}, options),
                    "compute_efficiency must be above 0 and at most 1");
  options = {};
  options.memory_efficiency = 0;
  CHECK_THROWS_AS(make_roofline(machine(1, 1), tiny(), {}, options), ModelError);
  options = {};
  options.link_efficiency = 2;
  CHECK_THROWS_AS(make_roofline(machine(1, 1), tiny(), {}, options), ModelError);
  options = {};
  options.table_tokens = -1;
  CHECK_THROWS_AS(make_roofline(machine(1, 1), tiny(), {}, options), ModelError);
  options = {};
  options.host_base = Seconds(-1);
  CHECK_THROWS_AS(make_roofline(machine(1, 1), tiny(), {}, options), ModelError);
}

TEST_CASE("the provenance names the figures and the efficiencies") {
  CHECK(make_roofline(machine(989e12, 3.35e12, 450e9), llama_70b(), {8})->provenance() ==
        "roofline: llama-3.1-70b on test-machine tp 8, bf16 weights, bf16 KV; 989 TFLOP/s bf16 x 0.75 (attention bf16 "
        "x 0.5), 3.35 TB/s x 0.8, link 450 GB/s x 0.7 + 0.5 us a hop, host 1 ms + 5 us a request");
}

TEST_CASE("the provenance names how the model is cut and what was chosen beside it") {
  RooflineOptions options;
  options.expert_skew = 0;
  options.capture_sizes = {1, 2, 4, 8};
  options.host_overlap = true;
  CHECK(make_roofline(machine(989e12, 3.35e12, 450e9), deepseek_v3(), {8, 2, 2, 16}, options)->provenance() ==
        "roofline: deepseek-v3 on test-machine tp 8 pp 2 dp 2 ep 16, bf16 weights, bf16 KV; 989 TFLOP/s bf16 x 0.75 "
        "(attention bf16 x 0.5), 3.35 TB/s x 0.8, tokens of the busiest experts x 1 (skew 0), link 450 GB/s x 0.7 + "
        "0.5 us a hop, graphs of up to 8 tokens, host 1 ms + 5 us a request beside the device");
}

TEST_CASE("a lone request of Llama-3.1-8B decodes on an RTX PRO 6000 about as fast as vLLM 0.19 measured") {
  // 1.792 TB/s; the end of the published run shows one request at 86 tokens/s.
  const auto curve = make_roofline(machine(467.8e12, 1.792e12), llama_8b(), {});
  CHECK(1 / curve->step(decode(1, 2000)).value == Approx(86).epsilon(0.05));
}

}  // namespace
}  // namespace poolcast
