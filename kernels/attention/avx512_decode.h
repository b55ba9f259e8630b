// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// No library header here: a source compiled for AVX-512 includes it.
namespace poolcast::kernels {

constexpr std::int64_t kDecodeChunk = 128;  // tokens whose scores are made at once
constexpr std::int64_t kDecodeHeads =
    8;  // query heads at once; more take turns within a chunk, so K and V stay read once
constexpr std::int64_t kMostHeadDim = 256;

/// All query heads of one KV head of one sequence, bf16.
struct DecodeTask {
  const std::uint16_t* q;  // [group][head_dim]
  std::uint16_t* out;      // the same
  std::int64_t group;
  const std::uint16_t* k;  // of the KV head in block 0
  const std::uint16_t* v;
  const std::int32_t* blocks;
  std::int64_t block_elements;  // from a block to the next
  std::int64_t block;           // tokens
  std::int64_t head_dim;        // a multiple of 32, up to kMostHeadDim
  std::int64_t total;           // tokens
  float* sums;                  // room for group * (head_dim + 32) floats
  const DecodeTask* next;       // likely to follow on this thread, or null: its first rows are asked for
};

void avx512_decode(const DecodeTask& task);

}  // namespace poolcast::kernels
