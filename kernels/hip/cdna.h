// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Kernels of AMD's CDNA (gfx90a: MI210, MI250; gfx940: an early MI300). Debian's hipcc 5.2 does not know gfx942
/// (MI300X), which needs ROCm 6. All pointers are device addresses, on the null stream; every launch returns at once.
namespace poolcast::hip {

/// C[m, n] = A[m, k] W[n, k]^T in bf16, sums in fp32; k mod 8 = 0.
struct Gemm {
  const std::uint16_t* a = nullptr;
  const std::uint16_t* weights = nullptr;
  std::uint16_t* c = nullptr;
  int m = 0;
  int n = 0;
  int k = 0;
};
void launch(const Gemm& gemm);

/// One query token of each request over `context` tokens of a paged cache in bf16, [blocks][kv_heads][block][head_dim].
/// head_dim 64 or 128. q and out: [requests, heads, head_dim].
struct Decode {
  const std::uint16_t* q = nullptr;
  std::uint16_t* out = nullptr;
  const std::uint16_t* keys = nullptr;
  const std::uint16_t* values = nullptr;
  const int* block_tables = nullptr;  ///< [requests, blocks_per_request]
  int blocks_per_request = 0;
  int block_tokens = 0;
  int context = 0;
  int requests = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int splits = 1;              ///< of the context
  float* workspace = nullptr;  ///< requests * heads * splits * (head_dim + 2) floats
};
void launch(const Decode& decode);

/// Causal attention of one request's chunk: `query` tokens behind `context` tokens, all of them in a paged cache like
/// Decode's. head_dim 64 or 128. q and out: [query, heads, head_dim].
struct Prefill {
  const std::uint16_t* q = nullptr;
  std::uint16_t* out = nullptr;
  const std::uint16_t* keys = nullptr;
  const std::uint16_t* values = nullptr;
  const int* block_table = nullptr;
  int block_tokens = 0;
  int query = 0;
  int context = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
};
void launch(const Prefill& prefill);

}  // namespace poolcast::hip
