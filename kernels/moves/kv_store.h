// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/memory.h"
#include "kernels/moves/kv_store_task.h"
#include "kernels/threads.h"

namespace poolcast::kernels {

/// Inputs, output and reference of kv_store: the tokens fill the blocks of a cache that holds no others, in random
/// order.
struct KvStoreCase {
  KvStoreCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory);
  void poison();
  double error() const;

  DType dtype;
  std::int64_t blocks;
  std::vector<std::int64_t> slots;
  KvStoreTask task;
};

using KvStoreFunction = void (*)(const KvStoreTask& task, Team& team);
void portable_kv_store(const KvStoreTask& task, Team& team);
void native_kv_store(const KvStoreTask& task, Team& team);  // avx512_kv_store on all threads

/// The CPU's implementations of Operation::kKvStore.
std::span<const Kernel> kv_store_kernels();

}  // namespace poolcast::kernels
