// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/memory.h"
#include "kernels/problem.h"

namespace poolcast::kernels {

/// Copies of blocks within a cache of twice as many: block from[i] to block to[i], in K and in V, no block twice.
struct KvCopyCase {
  KvCopyCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory);
  void poison();
  double error() const;

  DType dtype;
  std::int64_t blocks, block_bytes;
  std::int64_t heads, head_bytes;  // a block is [kv_heads][head_bytes]
  std::byte* k;                    // [2 * blocks][block_bytes]
  std::byte* v;
  std::vector<std::int32_t> from, to;
};

/// Sums of the vectors of all ranks, one for each rank.
struct AllReduceCase {
  AllReduceCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory);
  void poison();
  double error() const;

  DType dtype;
  std::int64_t elements;
  std::vector<const void*> in;  // of each rank
  std::vector<void*> out;
};

}  // namespace poolcast::kernels
