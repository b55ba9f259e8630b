// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// No library header here: a source compiled for AVX-512 includes it.
namespace poolcast::kernels {

constexpr std::int64_t kPrefillPanel = 64;  // tokens of a packed panel of K and V

/// Some query rows against all packed panels of one KV head, bf16. Words are of 32 bits, two bf16.
struct PrefillTask {
  const std::uint32_t* q;  // [rows][head_dim / 2]
  std::int64_t rows;
  const std::int64_t* seen;   // tokens that each row sees; never falling
  const std::uint32_t* k;     // panels of [head_dim / 2][64 tokens]
  const std::uint32_t* v;     // panels of [32 pairs of tokens][head_dim]
  std::int64_t head_dim;      // a multiple of 32
  float* state;               // room for rows * (head_dim + 32) floats: sums, 16 partial totals, greatest score
  std::uint16_t* const* out;  // of each row
};

void avx512_prefill(const PrefillTask& task);

}  // namespace poolcast::kernels
