// SPDX-License-Identifier: Apache-2.0
#include "models/transformer.h"

#include <catch2/catch.hpp>

#include "models/error.h"
#include "tests/units/models/shapes.h"

namespace poolcast {
namespace {

using namespace test;

TEST_CASE("parameters of a small model are the sum of its matrices") {
  // 90,000 in linear layers; norms 2 * 100 in the layer and 100 at the end; embeddings and head 1000 * 100 each.
  CHECK(parameters(tiny()) == 90'000 + 300 + 200'000);
  TransformerShape tied = tiny();
  tied.tied_embeddings = true;
  CHECK(parameters(tied) == 90'000 + 300 + 100'000);
  CHECK(active_parameters(tiny()) == parameters(tiny()));
}

TEST_CASE("a token uses only the experts it is routed to") {
  // Attention 30,000; 8 experts of 15,000; router 100 * 8; norms and tables as before.
  CHECK(parameters(tiny_moe()) == 30'000 + 120'000 + 800 + 300 + 200'000);
  CHECK(active_parameters(tiny_moe()) == 30'000 + 30'000 + 800 + 300 + 200'000);
  CHECK(gemm_flops_per_token(tiny_moe(), 0).value == 2 * (30'000 + 30'000 + 800));
}

TEST_CASE("every token uses the shared experts") {
  TransformerShape shape = tiny_moe();
  shape.moe->shared_experts = 3;
  CHECK(parameters(shape) == 30'000 + 11 * 15'000 + 800 + 300 + 200'000);
  CHECK(active_parameters(shape) == 30'000 + 5 * 15'000 + 800 + 300 + 200'000);
  CHECK(gemm_flops_per_token(shape, 0).value == 2 * (30'000 + 5 * 15'000 + 800));
}

TEST_CASE("the first layers of a mixture can be dense") {
  TransformerShape shape = tiny_moe();
  shape.layers = 3;
  shape.moe->first_dense_layers = 1;
  CHECK(shape.dense_layers() == 1);
  CHECK(shape.moe_layers() == 2);
  CHECK(gemm_flops_per_token(shape, 0).value == 2 * 90'000);
  CHECK(gemm_flops_per_token(shape, 1).value == 2 * (30'000 + 30'000 + 800));
}

TEST_CASE("published parameter counts are met within one per cent") {
  CHECK(parameters(llama_8b()) == Approx(8.03e9).epsilon(0.01));
  CHECK(parameters(llama_70b()) == Approx(70.6e9).epsilon(0.01));
  CHECK(parameters(qwen3_30b_a3b()) == Approx(30.5e9).epsilon(0.01));
  CHECK(parameters(deepseek_v3()) == Approx(671e9).epsilon(0.01));
}

TEST_CASE("latent attention is counted by its own matrices") {
  // q 100 -> 10 * 12, kv down 100 -> 20 + 4, kv up 20 -> 10 * (8 + 6), o 10 * 6 -> 100, norms 2 * 100 + 20.
  CHECK(attention_parameters(tiny_mla()) == 12'000 + 2'400 + 2'800 + 6'000 + 220);
  // With a rank of 16: 100 -> 16 -> 120, and a norm of 16.
  TransformerShape low_rank = tiny_mla();
  low_rank.mla->q_lora_rank = 16;
  CHECK(attention_parameters(low_rank) == 1'600 + 1'920 + 2'400 + 2'800 + 6'000 + 236);
}

TEST_CASE("KV bytes of a token follow the KV heads, and the latent for MLA") {
  CHECK(kv_bytes_per_token(tiny(), Precision::kBf16).value == 2 * 5 * 10 * 2);
  CHECK(kv_bytes_per_token(tiny(), Precision::kFp8).value == 2 * 5 * 10);
  CHECK(kv_bytes_per_token(tiny_mla(), Precision::kBf16).value == (20 + 4) * 2);
  // 80 layers * 2 * 8 heads * 128 * 2 B; 61 layers * (512 + 64) * 2 B.
  CHECK(kv_bytes_per_token(llama_70b(), Precision::kBf16).value == 327'680);
  CHECK(kv_bytes_per_token(deepseek_v3(), Precision::kBf16).value == 70'272);
}

TEST_CASE("tensor parallelism cuts KV heads and repeats them when there are too few") {
  const auto kv = [](std::int64_t tp) {
    return kv_bytes_per_token_per_device(llama_70b(), Precision::kBf16, {tp}).value;
  };
  CHECK(kv(1) == 327'680);
  CHECK(kv(8) == 40'960);
  CHECK(kv(16) == 40'960);
  CHECK(kv_bytes_per_token_per_device(deepseek_v3(), Precision::kBf16, {8}).value == 70'272);
}

TEST_CASE("weights on one device: linear layers and tables are cut, norms are not") {
  // tp 5: 90,000 / 5 = 18,000 linear; 300 norms; 200,000 / 5 tables; 2 B each.
  CHECK(weight_bytes_per_device(tiny(), Precision::kBf16, {5}).value == (18'000 + 300 + 40'000) * 2);
  // tp 10 holds one KV head instead of half: qkv 100 -> (1 + 2) * 10, o 10 -> 100, MLP 60,000 / 10.
  CHECK(weight_bytes_per_device(tiny(), Precision::kBf16, {10}).value == (3'000 + 1'000 + 6'000 + 300 + 20'000) * 2);
  // Quantised: linear layers at one byte, the rest stays bf16.
  CHECK(weight_bytes(tiny(), Precision::kFp8).value == 90'000 + (300 + 200'000) * 2);
  CHECK(weight_bytes(tiny(), Precision::kFp4).value == 45'000 + (300 + 200'000) * 2);
}

TEST_CASE("attention operations: scores and weighted sum, by heads or by the latent") {
  CHECK(prefill_attention_flops(tiny()).value == 4 * 10 * 10);
  CHECK(decode_attention_flops(tiny()).value == 4 * 10 * 10);
  CHECK(prefill_attention_flops(tiny_mla()).value == 2 * 10 * (12 + 6));
  CHECK(decode_attention_flops(tiny_mla()).value == 2 * 10 * (24 + 20));
}

TEST_CASE("a layout that a model cannot be cut into is refused with the reason") {
  CHECK_NOTHROW(check_layout(llama_70b(), {8}));
  CHECK_NOTHROW(check_layout(llama_70b(), {16}));
  CHECK_THROWS_WITH(check_layout(llama_70b(), {3}), "tp 3 does not divide the 64 attention heads of llama-3.1-70b");
  CHECK_THROWS_WITH(check_layout(llama_70b(), {0}), "tp must be at least 1");
  CHECK_THROWS_WITH(check_layout(llama_70b(), {8, 0}), "pp must be at least 1");
  CHECK_NOTHROW(check_layout(llama_70b(), {8, 80}));
  CHECK_THROWS_WITH(check_layout(llama_70b(), {8, 81}), "pp 81 is above the 80 layers of llama-3.1-70b");
  CHECK_THROWS_AS(check_layout(llama_70b(), {8, 81}), UnsupportedLayout);
  CHECK_THROWS_WITH(check_layout(llama_70b(), {8, 1, 0}), "dp must be at least 1");
  CHECK_THROWS_WITH(check_layout(llama_70b(), {8, 1, 1, 0}), "ep must be at least 1");
  CHECK_THROWS_WITH(check_layout(llama_70b(), {8, 1, 1, 8}), "ep 8 needs experts, and llama-3.1-70b has none");
  const TransformerShape odd = dense_shape("odd", 1, 120, 12, 5, 10, 240, 1000);
  CHECK_THROWS_WITH(check_layout(odd, {6}), "tp 6 does not divide the 5 KV heads of odd");
  TransformerShape narrow = dense_shape("narrow", 1, 120, 12, 12, 10, 250, 1000);
  CHECK_THROWS_WITH(check_layout(narrow, {4}), "tp 4 does not divide the 250 columns of the MLP of narrow");
  narrow.moe = MoeShape{8, 2, 50, 0, 0};  // no dense layer is left, and experts do not divide either
  CHECK_THROWS_WITH(check_layout(narrow, {4}), "tp 4 does not divide the 50 columns of an expert of narrow");
  // The latent of MLA is not cut, so its nominal KV heads do not matter.
  TransformerShape latent = dense_shape("latent", 1, 120, 12, 5, 10, 240, 1000);
  latent.mla = MlaShape{0, 20, 8, 4, 6};
  CHECK_NOTHROW(check_layout(latent, {6}));
  CHECK(Layout{8, 2, 3}.devices() == 48);
}

TEST_CASE("experts are cut by devices of a rank, or of all ranks together") {
  CHECK_NOTHROW(check_layout(deepseek_v3(), {8, 1, 1, 8}));
  CHECK_NOTHROW(check_layout(deepseek_v3(), {8, 1, 2, 4}));   // within each rank
  CHECK_NOTHROW(check_layout(deepseek_v3(), {8, 1, 2, 16}));  // over both
  CHECK_THROWS_WITH(check_layout(deepseek_v3(), {8, 1, 4, 16}), "ep 16 must divide tp (8) or be tp * dp (32)");
  CHECK_THROWS_WITH(check_layout(tiny_moe(), {1, 1, 3, 3}), "ep 3 does not divide the 8 experts of tiny-moe");
  CHECK(Layout{8, 1, 2, 16}.experts_across_ranks());
  CHECK_FALSE(Layout{8, 1, 2, 8}.experts_across_ranks());
  CHECK(Layout{8, 1, 2, 16}.expert_tp() == 1);
  CHECK(Layout{8, 1, 2, 4}.expert_tp() == 2);
  CHECK(Layout{8, 1, 2, 1}.expert_tp() == 8);
  // ep 4: two of the eight experts of 15,000 weights on a device; 30,000 of attention; router 800, norms 300, tables.
  CHECK(weight_bytes_per_device(tiny_moe(), Precision::kBf16, {1, 1, 4, 4}).value ==
        (30'000 + 2 * 15'000 + 800 + 300 + 200'000) * 2);
  // tp 10 and ep 2: four experts, each cut over 5 devices.
  CHECK(weight_bytes_per_device(tiny_moe(), Precision::kBf16, {10, 1, 1, 2}).value ==
        (3'000 + 1'000 + 4 * 3'000 + 800 + 300 + 20'000) * 2);
}

TEST_CASE("a stage of a pipeline holds its layers, the first the embedding and the last the head") {
  // vLLM puts the rest before the last stage: 61 layers on 4 stages are 15, 15, 16, 15.
  std::vector<std::int64_t> layers;
  for (std::int64_t stage = 0; stage < 4; ++stage) layers.push_back(stage_layers(61, 4, stage));
  CHECK(layers == std::vector<std::int64_t>{15, 15, 16, 15});
  CHECK(stage_of(deepseek_v3(), 4, 0).dense_layers() == 3);
  CHECK(stage_of(deepseek_v3(), 4, 1).dense_layers() == 0);
  CHECK(stage_of(deepseek_v3(), 61, 2).moe_layers() == 0);

  TransformerShape shape = tiny();  // a layer is 90,000 weights and 200 of norms, a table 100,000, the last norm 100
  shape.layers = 5;
  const auto weights = [&](std::int64_t stage) {
    return weight_bytes_per_device(shape, Precision::kBf16, {1, 3}, stage).value / 2;
  };
  CHECK(weights(0) == 2 * 90'200 + 100'000);
  CHECK(weights(1) == 2 * 90'200);
  CHECK(weights(2) == 90'200 + 100'000 + 100);
  CHECK(weights(0) + weights(1) + weights(2) == parameters(shape));
  CHECK(kv_bytes_per_token_per_device(shape, Precision::kBf16, {1, 3}, 1).value == 2 * 200);
  CHECK(kv_bytes_per_token_per_device(shape, Precision::kBf16, {1, 3}, 2).value == 200);
  shape.tied_embeddings = true;  // the last stage holds a copy of its own
  CHECK(weights(0) + weights(2) == 2 * 90'200 + 90'200 + 200'000 + 100);
}

}  // namespace
}  // namespace poolcast
