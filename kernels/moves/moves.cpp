// SPDX-License-Identifier: Apache-2.0
#include "kernels/moves/moves.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/element.h"
#include "kernels/moves/move_case.h"
#include "kernels/moves/native.h"
#include "kernels/prepared.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kChunk = 8192;  // elements of a rank that one part reduces

/// A byte at a time.
void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  auto* out = static_cast<volatile unsigned char*>(to);  // or the compiler makes it a memcpy
  for (std::int64_t i = 0; i < bytes; ++i) out[i] = static_cast<const unsigned char*>(from)[i];
}

void copy_block(void* to, const void* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

template <void (*copy)(void* to, const void* from, std::int64_t bytes)>
std::function<void()> run_copy(KvCopyCase& data, Memory&, Team& team) {
  return [&data, &team] {
    team.parallel(data.blocks, [&](std::int64_t i) {
      const std::int64_t from = data.from[static_cast<std::size_t>(i)] * data.block_bytes;
      const std::int64_t to = data.to[static_cast<std::size_t>(i)] * data.block_bytes;
      copy(data.k + to, data.k + from, data.block_bytes);
      copy(data.v + to, data.v + from, data.block_bytes);
    });
  };
}

/// Two shots: the first rank sums everything, then everybody copies.
std::function<void()> reduce_at_first(AllReduceCase& data, Memory&, Team& team) {
  return [&data, &team] {
    with_float_element(data.dtype, [&](auto element) {
      using T = decltype(element);
      T* first = static_cast<T*>(data.out[0]);
      for (std::int64_t i = 0; i < data.elements; ++i) {
        float sum = 0;
        for (const void* in : data.in) sum += factor(static_cast<const T*>(in)[i]);
        put(first[i], sum);
      }
      team.parallel(static_cast<std::int64_t>(data.out.size()) - 1, [&](std::int64_t rank) {
        std::memcpy(data.out[static_cast<std::size_t>(rank) + 1], first,
                    static_cast<std::size_t>(data.elements) * sizeof(T));
      });
    });
  };
}

/// Each chunk is summed once, by whoever comes first, and written to every rank: reduce-scatter and all-gather in one.
template <class T>
void reduce_chunk(const void* const* in, void* const* out, std::int64_t ranks, std::int64_t first, std::int64_t end) {
  float sums[kChunk];
  const std::int64_t count = end - first;
  std::fill_n(sums, count, 0.0f);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    for (std::int64_t i = 0; i < count; ++i) sums[i] += factor(static_cast<const T*>(in[rank])[first + i]);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    for (std::int64_t i = 0; i < count; ++i) put(static_cast<T*>(out[rank])[first + i], sums[i]);
}

using Reduce = void (*)(const void* const*, void* const*, std::int64_t, std::int64_t, std::int64_t);

template <Reduce fp32, Reduce bf16>
std::function<void()> reduce_by_chunks(AllReduceCase& data, Memory&, Team& team) {
  return [&data, &team] {
    const Reduce reduce = data.dtype == DType::kBf16 ? bf16 : fp32;
    team.parallel((data.elements + kChunk - 1) / kChunk, [&](std::int64_t part) {
      reduce(data.in.data(), data.out.data(), static_cast<std::int64_t>(data.in.size()), part * kChunk,
             std::min(data.elements, (part + 1) * kChunk));
    });
  };
}

std::function<void()> reference_reduce(AllReduceCase& data, Memory&, Team&) {
  return [&data] {
    with_float_element(data.dtype, [&](auto element) {
      using T = decltype(element);
      for (std::int64_t i = 0; i < data.elements; ++i) {
        double sum = 0;
        for (const void* in : data.in) sum += to_double(static_cast<const T*>(in)[i]);
        for (void* out : data.out) put(static_cast<T*>(out)[i], static_cast<float>(sum));
      }
    });
  };
}

std::string why_not_avx512(const KernelProblem&) { return why_no_avx512(); }

std::string why_not_streams(const KernelProblem& problem) {
  const std::int64_t bytes =
      problem.dim("block") * problem.dim("kv_heads") * problem.dim("head_dim") * bytes_per_element(problem.dtype);
  return bytes % 64 != 0 ? "blocks must be multiples of 64 bytes" : why_no_avx512();
}

constexpr Operation kCopy = Operation::kKvCopy, kReduce = Operation::kAllReduce;

constexpr Kernel kMoveKernels[] = {
    {kCopy, "reference", DeviceKind::kCpu, "memcpy of each block", never, prepare<KvCopyCase, run_copy<copy_block>>},
    {kCopy, "portable_naive", DeviceKind::kCpu, "plain C++, byte by byte", never,
     prepare<KvCopyCase, run_copy<copy_bytes>>},
    {kCopy, "portable", DeviceKind::kCpu, "memcpy of each block", never, prepare<KvCopyCase, run_copy<copy_block>>},
    {kCopy, "avx512", DeviceKind::kCpu, "stores past the caches", why_not_streams,
     prepare<KvCopyCase, run_copy<avx512_stream_copy>>},
    {kReduce, "reference", DeviceKind::kCpu, "sums in double", never, prepare<AllReduceCase, reference_reduce>},
    {kReduce, "portable_naive", DeviceKind::kCpu, "plain C++, one rank sums, then all copy", never,
     prepare<AllReduceCase, reduce_at_first>},
    {kReduce, "portable", DeviceKind::kCpu, "plain C++, chunks summed once and written to every rank", never,
     prepare<AllReduceCase, reduce_by_chunks<reduce_chunk<float>, reduce_chunk<Bf16>>>},
    {kReduce, "avx512", DeviceKind::kCpu, "chunks summed in registers and written to every rank", why_not_avx512,
     prepare<AllReduceCase, reduce_by_chunks<avx512_reduce_fp32, avx512_reduce_bf16>>},
};

}  // namespace

std::span<const Kernel> move_kernels() { return kMoveKernels; }

}  // namespace poolcast::kernels
