// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/prepared_decode.h"

#include <cstddef>
#include <cstring>

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kMostCopies = 1024;

const std::byte* repeated(const void* values, std::int64_t bytes, std::int64_t copies, Memory& memory) {
  auto* const all = memory.take<std::byte>(bytes * copies);
  for (std::int64_t i = 0; i < copies; ++i) std::memcpy(all + i * bytes, values, static_cast<std::size_t>(bytes));
  return all;
}

}  // namespace

PreparedDecode::PreparedDecode(const KernelProblem& problem, std::uint64_t seed, Team& team, Attend attend)
    : case_(problem, seed, memory_), team_(team), attend_(attend) {
  const KvCache& cache = case_.cache;
  const std::int64_t elements = case_.cache_blocks * cache.kv_heads * cache.block * cache.head_dim;
  bytes_ = (elements * bytes_per_element(cache.dtype) + 63) / 64 * 64;  // what follows may be read
  copies_ = bytes_that_empty_caches() / (2 * bytes_) + 2;
}

void PreparedDecode::cool() {
  if (copies_ <= 2 || copies_ > kMostCopies) return memory_.evict();
  if (k_ == nullptr) copy_cache();
  now_ = (now_ + 1) % copies_;
  case_.cache.k = k_ + now_ * bytes_;
  case_.cache.v = v_ + now_ * bytes_;
}

void PreparedDecode::copy_cache() {
  k_ = repeated(case_.cache.k, bytes_, copies_, memory_);
  v_ = repeated(case_.cache.v, bytes_, copies_, memory_);
  memory_.evict();  // or the first runs wait for what was written to leave the caches
}

}  // namespace poolcast::kernels
