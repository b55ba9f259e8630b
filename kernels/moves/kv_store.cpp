// SPDX-License-Identifier: Apache-2.0
#include "kernels/moves/kv_store.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/compare.h"
#include "kernels/cpu.h"
#include "kernels/element.h"
#include "kernels/prepared.h"
#include "kernels/random.h"

namespace poolcast::kernels {
namespace {

/// Calls copy(to, from, head_bytes) for K and V of each head of the tokens from `first` to `end`.
template <class Copy>
void store(const KvStoreTask& task, std::int64_t first, std::int64_t end, Copy copy) {
  for (std::int64_t token = first; token < end; ++token)
    for (std::int64_t head = 0; head < task.kv_heads; ++head) {
      const std::int64_t place = place_of(task, token, head), at = head * task.head_bytes;
      copy(task.k_cache + place, task.k + token * task.k_stride + at, task.head_bytes);
      copy(task.v_cache + place, task.v + token * task.v_stride + at, task.head_bytes);
    }
}

void copy_head(char* to, const char* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void copy_bytes(char* to, const char* from, std::int64_t bytes) {
  volatile char* out = to;  // or the compiler makes it a memcpy
  for (std::int64_t i = 0; i < bytes; ++i) out[i] = from[i];
}

/// Parts of about 64 KiB of tokens.
void over_tokens(const KvStoreTask& task, Team& team,
                 const std::function<void(std::int64_t first, std::int64_t end)>& part) {
  const std::int64_t tokens =
      std::max<std::int64_t>(1, (std::int64_t{64} << 10) / (2 * task.kv_heads * task.head_bytes));
  team.parallel((task.tokens + tokens - 1) / tokens,
                [&](std::int64_t i) { part(i * tokens, std::min(task.tokens, (i + 1) * tokens)); });
}

void naive_kv_store(const KvStoreTask& task, Team& team) {
  over_tokens(task, team, [&](std::int64_t first, std::int64_t end) { store(task, first, end, copy_bytes); });
}

template <KvStoreFunction function>
std::function<void()> run(KvStoreCase& data, Memory&, Team& team) {
  return [&data, &team] { function(data.task, team); };
}

std::string why_not_avx512(const KernelProblem&) { return why_no_avx512(); }

constexpr Operation kStore = Operation::kKvStore;

constexpr Kernel kKvStoreKernels[] = {
    {kStore, "reference", DeviceKind::kCpu, "memcpy of each head", never, prepare<KvStoreCase, run<portable_kv_store>>},
    {kStore, "portable_naive", DeviceKind::kCpu, "plain C++, byte by byte", never,
     prepare<KvStoreCase, run<naive_kv_store>>},
    {kStore, "portable", DeviceKind::kCpu, "memcpy of each head", never, prepare<KvStoreCase, run<portable_kv_store>>},
    {kStore, "avx512", DeviceKind::kCpu, "64 bytes at a time, through the caches, where attention reads them next",
     why_not_avx512, prepare<KvStoreCase, run<native_kv_store>>},
};

}  // namespace

void portable_kv_store(const KvStoreTask& task, Team& team) {
  over_tokens(task, team, [&](std::int64_t first, std::int64_t end) { store(task, first, end, copy_head); });
}

void native_kv_store(const KvStoreTask& task, Team& team) {
  over_tokens(task, team, [&](std::int64_t first, std::int64_t end) { avx512_kv_store(task, first, end); });
}

KvStoreCase::KvStoreCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory)
    : dtype(problem.dtype), task{} {
  task.tokens = problem.dim("tokens");
  task.kv_heads = problem.dim("kv_heads");
  task.block = problem.dim("block");
  task.head_bytes = problem.dim("head_dim") * bytes_per_element(dtype);
  task.k_stride = task.v_stride = task.kv_heads * task.head_bytes;
  blocks = (task.tokens + task.block - 1) / task.block;
  Random random(seed);
  const std::vector<std::int32_t> order = shuffled(blocks, random);
  for (std::int64_t token = 0; token < task.tokens; ++token)
    slots.push_back(order[static_cast<std::size_t>(token / task.block)] * task.block + token % task.block);
  task.slots = slots.data();
  with_float_element(dtype, [&](auto element) {
    using T = decltype(element);
    const std::int64_t of_a_token = task.kv_heads * problem.dim("head_dim");
    const auto random_rows = [&] {
      T* const rows = memory.take<T>(task.tokens * of_a_token);
      random.fill(rows, task.tokens * of_a_token);
      return reinterpret_cast<const char*>(rows);
    };
    task.k = random_rows();
    task.v = random_rows();
    task.k_cache = reinterpret_cast<char*>(memory.take<T>(blocks * task.block * of_a_token));
    task.v_cache = reinterpret_cast<char*>(memory.take<T>(blocks * task.block * of_a_token));
  });
}

void KvStoreCase::poison() {
  with_float_element(dtype, [&](auto element) {
    using T = decltype(element);
    const std::int64_t bytes = blocks * task.block * task.kv_heads * task.head_bytes;
    for (char* cache : {task.k_cache, task.v_cache})
      kernels::poison(reinterpret_cast<T*>(cache), bytes / static_cast<std::int64_t>(sizeof(T)));
  });
}

/// The bytes are the same or they are not.
double KvStoreCase::error() const {
  bool same = true;
  const auto compare = [&](const char* cached, const char* row, std::int64_t bytes) {
    same = same && std::memcmp(cached, row, static_cast<std::size_t>(bytes)) == 0;
  };
  store(task, 0, task.tokens, compare);
  return same ? 0 : std::numeric_limits<double>::infinity();
}

std::span<const Kernel> kv_store_kernels() { return kKvStoreKernels; }

}  // namespace poolcast::kernels
