// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/memory.h"

namespace poolcast::kernels {

/// Inputs, output and reference of both attentions. The blocks of the requests lie in the cache in random order.
struct AttentionCase {
  AttentionCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory);
  void poison();
  double error() const;

  std::int64_t heads, requests, query, total;
  KvCache cache;
  std::int64_t cache_blocks;         // of all requests
  std::vector<std::int32_t> blocks;  // [requests][blocks of a request]
  void* q;                           // [requests][query][heads][head_dim]
  void* out;
  std::vector<AttentionSequence> sequences;
};

/// One head of one query token in double: head_dim values into `out`.
void attention_row(const KvCache& cache, std::int64_t heads, const AttentionSequence& sequence, std::int64_t token,
                   std::int64_t head, double* out);

}  // namespace poolcast::kernels
