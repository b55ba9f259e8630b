// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// No library header here: sources compiled for one instruction set include it.
namespace poolcast::kernels {

/// Rows without gaps, for softmax, cross-entropy, RMSNorm, gates and residual additions.
struct RowTask {
  const void* in;              // [rows][columns], bf16 or fp32; silu_gate: [rows][2 * columns], gates, then ups
  void* out;                   // [rows][columns]; cross-entropy: [rows] fp32
  const void* weight;          // RMSNorm: [columns], in the format of `in`
  const std::int32_t* labels;  // cross-entropy: [rows]
  std::int64_t rows, columns;
  bool bf16;
  const void* addend = nullptr;  // residual_add: [rows][columns], added to `in`; `out` may be either of them
};

constexpr float kRmsEpsilon = 1e-6f;

/// Rotation of each head: for i < head_dim / 2, (x[i], x[i + head_dim / 2]) by the angle whose cosine and sine stand in
/// turns[token][i]. `out` may be `in`.
struct RotaryTask {
  const void* in;      // [tokens][heads][head_dim], bf16 or fp32
  void* out;           // the same, without gaps
  const float* turns;  // [tokens][head_dim / 2][2]
  std::int64_t tokens, heads, head_dim;
  bool bf16;
  std::int64_t in_stride;  // elements from a token of `in` to the next: heads * head_dim, or more where Q, K and V lie
                           // side by side
};

// One row or token after the other from `first` to `end`; each in a source compiled for AVX512F. `scratch` has room for
// `columns` floats.
void avx512_softmax(const RowTask& task, std::int64_t first, std::int64_t end, float* scratch);
void avx512_cross_entropy(const RowTask& task, std::int64_t first, std::int64_t end);
void avx512_rms_norm(const RowTask& task, std::int64_t first, std::int64_t end);
void avx512_silu_gate(const RowTask& task, std::int64_t first, std::int64_t end);
void avx512_residual_add(const RowTask& task, std::int64_t first, std::int64_t end);
void avx512_rotary(const RotaryTask& task, std::int64_t first, std::int64_t end);

}  // namespace poolcast::kernels
