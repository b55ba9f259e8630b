// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>

#include "kernels/hip/device.h"
#include "kernels/hip/elements.hiph"
#include "kernels/hip/portable.h"

// Moves go in words of 16 bytes where sizes allow, else of 2 bytes (whole blocks: of one).
namespace poolcast::hip {
namespace {

constexpr int kThreads = 256;

/// Grid: tokens. A thread turns pairs of several heads.
template <class Element>
__global__ void __launch_bounds__(kThreads) rotary_kernel(const Rotary r) {
  const int half = r.head_dim / 2;
  const long token = static_cast<long>(blockIdx.x) * r.heads * r.head_dim;
  const auto* turns = reinterpret_cast<const float2*>(r.turns) + static_cast<long>(blockIdx.x) * half;
  for (int i = static_cast<int>(threadIdx.x); i < r.heads * half; i += kThreads) {
    const int d = i % half;
    const float2 turn = turns[d];
    const long at = token + static_cast<long>(i / half) * r.head_dim + d;
    const auto* in = static_cast<const Element*>(r.in) + at;
    auto* out = static_cast<Element*>(r.out) + at;
    const float first = to_float(in[0]), second = to_float(in[half]);
    put(out[0], first * turn.x - second * turn.y);
    put(out[half], second * turn.x + first * turn.y);
  }
}

/// Grid: tokens, then K and V.
template <class Word>
__global__ void __launch_bounds__(kThreads) store_kernel(const TokenStore s) {
  const int head_words = s.head_bytes / static_cast<int>(sizeof(Word)), words = s.kv_heads * head_words;
  const std::int64_t slot = s.slots[blockIdx.x];
  const auto* from =
      static_cast<const Word*>(blockIdx.y == 0 ? s.k : s.v) + static_cast<std::int64_t>(blockIdx.x) * words;
  auto* cache = static_cast<Word*>(blockIdx.y == 0 ? s.keys : s.values);
  for (int i = static_cast<int>(threadIdx.x); i < words; i += kThreads) {
    const std::int64_t row = (slot / s.block * s.kv_heads + i / head_words) * s.block + slot % s.block;
    cache[row * head_words + i % head_words] = from[i];
  }
}

/// Grid: blocks of the cache, then K and V.
template <class Word>
__global__ void __launch_bounds__(kThreads) block_copy_kernel(const BlockCopy c) {
  const auto words = c.block_bytes / static_cast<std::int64_t>(sizeof(Word));
  auto* cache = static_cast<Word*>(blockIdx.y == 0 ? c.keys : c.values);
  const Word* from = cache + c.from[blockIdx.x] * words;
  Word* to = cache + c.to[blockIdx.x] * words;
  for (std::int64_t i = threadIdx.x; i < words; i += kThreads) {
    to[i] = from[i];
  }
}

}  // namespace

void launch_rotary(const Rotary& r) {
  const dim3 grid(static_cast<unsigned>(r.tokens));
  if (r.format == Format::kBf16) {
    hipLaunchKernelGGL(rotary_kernel<std::uint16_t>, grid, dim3(kThreads), 0, nullptr, r);
  } else {
    hipLaunchKernelGGL(rotary_kernel<float>, grid, dim3(kThreads), 0, nullptr, r);
  }
  check_launch();
}

void launch_store(const TokenStore& s) {
  const dim3 grid(static_cast<unsigned>(s.tokens), 2);
  if (s.head_bytes % 16 == 0) {
    hipLaunchKernelGGL(store_kernel<uint4>, grid, dim3(kThreads), 0, nullptr, s);
  } else {
    hipLaunchKernelGGL(store_kernel<std::uint16_t>, grid, dim3(kThreads), 0, nullptr, s);
  }
  check_launch();
}

void launch_block_copy(const BlockCopy& c) {
  const dim3 grid(static_cast<unsigned>(c.count), 2);
  if (c.block_bytes % 16 == 0) {
    hipLaunchKernelGGL(block_copy_kernel<uint4>, grid, dim3(kThreads), 0, nullptr, c);
  } else {
    hipLaunchKernelGGL(block_copy_kernel<char>, grid, dim3(kThreads), 0, nullptr, c);
  }
  check_launch();
}

}  // namespace poolcast::hip
