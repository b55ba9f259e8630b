// SPDX-License-Identifier: Apache-2.0
#include "models/kv_memory.h"

#include <catch2/catch.hpp>

#include "models/error.h"
#include "tests/units/models/shapes.h"

namespace poolcast {
namespace {

using namespace test;

TEST_CASE("KV blocks fill what weights and activations leave") {
  KvMemoryOptions options;
  options.gpu_memory_utilization = 0.5;
  options.block_size = 16;
  options.activation_reserve = Bytes(1000);
  // tiny: 290,300 weights * 2 B = 580,600; 200 B of KV a token, 3,200 a block.
  // 0.5 * 1,200,000 - 580,600 - 1,000 = 18,400 -> 5.75 blocks.
  const KvMemory memory = kv_memory(tiny(), {1}, Bytes(1'200'000), options);
  CHECK(memory.fits());
  CHECK(memory.num_gpu_blocks == 5);
  CHECK(memory.capacity(16) == 64);  // the null block holds nothing
  CHECK(memory.weights.value == 580'600);
  CHECK(memory.kv_bytes_per_token.value == 200);
}

TEST_CASE("more devices leave more room, until the KV heads run out") {
  KvMemoryOptions options;
  const auto blocks = [&](std::int64_t tp) {
    return kv_memory(llama_70b(), {tp}, Bytes(80e9), options).num_gpu_blocks;
  };
  CHECK(blocks(1) == 0);
  // Norms (1,318,912 weights) are held by each: 2 B * (70,552,387,584 / tp + 1,318,912) of weights on a device,
  // 16 * 81,920 B a block on 4 devices, 16 * 40,960 B on 8.
  CHECK(blocks(4) == 28'016);
  CHECK(blocks(8) == 82'945);
}

TEST_CASE("when nothing fits the result says so and holds no blocks") {
  KvMemoryOptions options;
  options.activation_reserve = Bytes(1024.0 * 1024 * 1024);
  const KvMemory memory = kv_memory(llama_70b(), {1}, Bytes(80e9), options);
  CHECK_FALSE(memory.fits());
  CHECK(memory.num_gpu_blocks == 0);
  CHECK(memory.capacity(16) == 0);
  CHECK(memory.shortage ==
        "no room for a KV cache: 67.1 GiB usable per device, 131.4 GiB weights, 1.0 GiB activations and runtime");
}

TEST_CASE("one block is the null block and serves nobody") {
  KvMemoryOptions options;
  options.gpu_memory_utilization = 1;
  CHECK_FALSE(kv_memory(tiny(), {1}, Bytes(580'600 + 3'200), options).fits());
  CHECK(kv_memory(tiny(), {1}, Bytes(580'600 + 6'400), options).num_gpu_blocks == 2);
}

TEST_CASE("a layout that cannot be is refused") {
  CHECK_THROWS_AS(kv_memory(llama_70b(), {3}, Bytes(80e9), {}), UnsupportedLayout);
}

TEST_CASE("the estimate meets the block count that vLLM 0.19 logged for Llama-3.1-8B on an RTX 4090") {
  // 25,250,627,584 B of device memory, utilization 0.9, 2,048 tokens a step, 256 sequences: 2,588 blocks of 16.
  KvMemoryOptions options;
  options.activation_reserve = activation_reserve(llama_8b(), {1}, 2048, 256);
  const KvMemory memory = kv_memory(llama_8b(), {1}, Bytes(25'250'627'584.0), options);
  CHECK(static_cast<double>(memory.num_gpu_blocks) == Approx(2588).epsilon(0.01));
}

TEST_CASE("activations are those of the widest layer, cut by tensor parallelism") {
  // 768 MiB; 10 tokens * (4 * 100 + 3 * 200) * 2 B; 5 sequences * 1,000 * 6 B.
  const double runtime = 768.0 * 1024 * 1024;
  CHECK(activation_reserve(tiny(), {1}, 10, 5).value == runtime + 20'000 + 30'000);
  CHECK(activation_reserve(tiny(), {5}, 10, 5).value == runtime + 10 * (400 + 120) * 2 + 30'000);
  // All layers have experts: 2 used experts of 50.
  CHECK(activation_reserve(tiny_moe(), {1}, 10, 5).value == runtime + 10 * (400 + 300) * 2 + 30'000);
  TransformerShape shared = tiny_moe();
  shared.moe->shared_experts = 3;
  CHECK(activation_reserve(shared, {1}, 10, 5).value == runtime + 10 * (400 + 750) * 2 + 30'000);
}

}  // namespace
}  // namespace poolcast
