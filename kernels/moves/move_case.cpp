// SPDX-License-Identifier: Apache-2.0
#include "kernels/moves/move_case.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/compare.h"
#include "kernels/element.h"
#include "kernels/random.h"

namespace poolcast::kernels {

KvCopyCase::KvCopyCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory)
    : dtype(problem.dtype), blocks(problem.dim("blocks")), heads(problem.dim("kv_heads")) {
  head_bytes = problem.dim("block") * problem.dim("head_dim") * bytes_per_element(dtype);
  block_bytes = heads * head_bytes;
  Random random(seed);
  const std::vector<std::int32_t> order = shuffled(2 * blocks, random);
  from.assign(order.begin(), order.begin() + blocks);
  to.assign(order.begin() + blocks, order.end());
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    for (std::byte** cache : {&k, &v}) {
      const std::int64_t count = 2 * blocks * block_bytes / static_cast<std::int64_t>(sizeof(T));
      T* elements = memory.take<T>(count);
      random.fill(elements, count);
      *cache = reinterpret_cast<std::byte*>(elements);
    }
  });
}

void KvCopyCase::poison() {
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    for (std::byte* cache : {k, v})
      for (std::int32_t block : to)
        kernels::poison(reinterpret_cast<T*>(cache + block * block_bytes),
                        block_bytes / static_cast<std::int64_t>(sizeof(T)));
  });
}

/// The bytes are the same or they are not.
double KvCopyCase::error() const {
  for (const std::byte* cache : {k, v})
    for (std::size_t i = 0; i < from.size(); ++i)
      if (std::memcmp(cache + from[i] * block_bytes, cache + to[i] * block_bytes,
                      static_cast<std::size_t>(block_bytes)) != 0)
        return std::numeric_limits<double>::infinity();
  return 0;
}

AllReduceCase::AllReduceCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory)
    : dtype(problem.dtype), elements(problem.dim("elements")) {
  Random random(seed);
  with_float_element(dtype, [&](auto element) {
    using T = decltype(element);
    for (std::int64_t rank = 0; rank < problem.dim("ranks"); ++rank) {
      T* vector = memory.take<T>(elements);
      random.fill(vector, elements);
      in.push_back(vector);
      out.push_back(memory.take<T>(elements));
    }
  });
}

void AllReduceCase::poison() {
  with_float_element(dtype, [&](auto element) {
    for (void* one : out) kernels::poison(static_cast<decltype(element)*>(one), elements);
  });
}

double AllReduceCase::error() const {
  return with_float_element(dtype, [&](auto element) {
    using T = decltype(element);
    Comparison comparison;
    for (const void* one : out)
      if (!all_written(static_cast<const T*>(one), elements)) return std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < elements; ++i) {
      double sum = 0;
      for (const void* one : in) sum += to_double(static_cast<const T*>(one)[i]);
      for (const void* one : out) comparison.add(to_double(static_cast<const T*>(one)[i]), sum);
    }
    return comparison.error();
  });
}

}  // namespace poolcast::kernels
