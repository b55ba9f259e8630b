// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/move_kernels.h"

#include "kernels/cuda/device_run.h"
#include "kernels/cuda/portable.h"
#include "kernels/moves/kv_store.h"
#include "kernels/moves/move_case.h"

namespace poolcast::cuda {
namespace {

using kernels::AllReduceCase;
using kernels::DeviceKind;
using kernels::Kernel;
using kernels::KernelProblem;
using kernels::KvCopyCase;
using kernels::KvStoreCase;
using kernels::Operation;

void store(KvStoreCase& data, DeviceRun& run) {
  const kernels::KvStoreTask& task = data.task;
  const auto token_bytes = static_cast<std::size_t>(task.kv_heads * task.head_bytes);
  const auto new_bytes = static_cast<std::size_t>(task.tokens) * token_bytes;
  const auto cache_bytes = static_cast<std::size_t>(data.blocks * task.block) * token_bytes;
  TokenStore store;
  store.k = run.input(task.k, new_bytes);
  store.v = run.input(task.v, new_bytes);
  store.keys = run.output(task.k_cache, cache_bytes);
  store.values = run.output(task.v_cache, cache_bytes);
  store.slots = run.input(data.slots);
  store.tokens = static_cast<int>(task.tokens);
  store.kv_heads = static_cast<int>(task.kv_heads);
  store.head_dim = static_cast<int>(task.head_bytes / kernels::bytes_per_element(data.dtype));
  store.block = static_cast<int>(task.block);
  store.kind = kind_of(data.dtype);
  run.launch = [store] { launch_store(store, nullptr); };
}

void copy_blocks(KvCopyCase& data, DeviceRun& run) {
  const auto cache_bytes = static_cast<std::size_t>(2 * data.blocks * data.block_bytes);
  BlockCopy copy;
  copy.keys = run.output(data.k, cache_bytes);
  copy.values = run.output(data.v, cache_bytes);
  copy.from = run.input(data.from);
  copy.to = run.input(data.to);
  copy.count = static_cast<int>(data.blocks);
  copy.block_bytes = data.block_bytes;
  run.launch = [copy] { launch_block_copy(copy, nullptr); };
}

void all_reduce(AllReduceCase& data, DeviceRun& run) {
  const auto bytes = static_cast<std::size_t>(data.elements * kernels::bytes_per_element(data.dtype));
  AllReduce reduce;
  reduce.ranks = static_cast<int>(data.in.size());
  reduce.elements = data.elements;
  reduce.kind = kind_of(data.dtype);
  for (int rank = 0; rank < reduce.ranks; ++rank) {
    set_device(rank);
    reduce.in[rank] = run.input(data.in[static_cast<std::size_t>(rank)], bytes);
    reduce.out[rank] = run.output(data.out[static_cast<std::size_t>(rank)], bytes);
  }
  set_device(0);
  // The device of rank 0 holds the clock, so the host waits for the others before the clock is stopped.
  run.launch = [reduce] {
    for (int rank = 0; rank < reduce.ranks; ++rank) {
      set_device(rank);
      launch_all_reduce(reduce, rank, nullptr);
    }
    for (int rank = reduce.ranks - 1; rank >= 0; --rank) {
      set_device(rank);
      synchronize();
    }
  };
}

std::string why_not_all_reduce(const KernelProblem& problem) {
  const std::string why = why_not_here(problem);
  if (!why.empty()) return why;
  const std::int64_t ranks = problem.dim("ranks");
  if (ranks > kMaxRanks) return "ranks must be at most " + std::to_string(kMaxRanks);
  if (device_count() < ranks) {
    return "needs a device for each of " + std::to_string(ranks) + " ranks, here are " + std::to_string(device_count());
  }
  return enable_peers(static_cast<int>(ranks));
}

constexpr Kernel kMoveKernels[] = {
    {Operation::kKvStore, "cuda_portable", DeviceKind::kCuda, "SIMT, a block of threads a token", why_not_here,
     prepare<KvStoreCase, store>},
    {Operation::kKvCopy, "cuda_portable", DeviceKind::kCuda, "SIMT, a block of threads a block of K or V", why_not_here,
     prepare<KvCopyCase, copy_blocks>},
    {Operation::kAllReduce, "cuda_portable", DeviceKind::kCuda,
     "a device a rank: each reads its share of every rank over NVLink or PCIe and writes the sums to every rank",
     why_not_all_reduce, prepare<AllReduceCase, all_reduce>},
};

}  // namespace

std::span<const Kernel> move_kernels() { return kMoveKernels; }

}  // namespace poolcast::cuda
