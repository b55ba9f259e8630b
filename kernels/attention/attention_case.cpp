// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention_case.h"

#include <algorithm>
#include <cmath>

#include "kernels/compare.h"
#include "kernels/element.h"
#include "kernels/random.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kOperationsOfACheck = std::int64_t{1} << 28;

template <class T>
void row_in(const KvCache& cache, std::int64_t heads, const AttentionSequence& sequence, std::int64_t token,
            std::int64_t head, double* out) {
  const std::int64_t d = cache.head_dim, seen = sequence.total - sequence.query + token + 1;
  const std::int64_t kv_head = head / (heads / cache.kv_heads);
  const T* q = static_cast<const T*>(sequence.q) + (token * heads + head) * d;
  const auto offset = [&](std::int64_t t) {
    const std::int64_t block = sequence.blocks[t / cache.block];
    return ((block * cache.kv_heads + kv_head) * cache.block + t % cache.block) * d;
  };
  std::vector<double> weight(static_cast<std::size_t>(seen));
  for (std::int64_t t = 0; t < seen; ++t) {
    const T* k = static_cast<const T*>(cache.k) + offset(t);
    double sum = 0;
    for (std::int64_t i = 0; i < d; ++i) sum += to_double(q[i]) * to_double(k[i]);
    weight[static_cast<std::size_t>(t)] = sum / std::sqrt(static_cast<double>(d));
  }
  const double most = *std::max_element(weight.begin(), weight.end());
  double sum = 0;
  for (double& w : weight) sum += w = std::exp(w - most);
  std::fill_n(out, d, 0.0);
  for (std::int64_t t = 0; t < seen; ++t) {
    const T* v = static_cast<const T*>(cache.v) + offset(t);
    for (std::int64_t i = 0; i < d; ++i) out[i] += weight[static_cast<std::size_t>(t)] / sum * to_double(v[i]);
  }
}

template <class T>
double error_in(const AttentionCase& data) {
  const std::int64_t d = data.cache.head_dim, rows = data.requests * data.query * data.heads;
  RowComparison comparison;
  if (!all_written(static_cast<const T*>(data.out), rows * d)) return comparison.error();
  const std::int64_t budget = std::max<std::int64_t>(1, kOperationsOfACheck / (4 * data.total * d));
  std::vector<double> wanted(static_cast<std::size_t>(d));
  Random random(static_cast<std::uint64_t>(rows));
  for (std::int64_t i = 0; i < std::min(rows, budget); ++i) {
    // The last row always: its query token sees everything.
    const std::int64_t row = rows <= budget ? i : i == 0 ? rows - 1 : random.below(rows);
    const std::int64_t token = row / data.heads, request = token / data.query;
    const AttentionSequence& sequence = data.sequences[static_cast<std::size_t>(request)];
    attention_row(data.cache, data.heads, sequence, token % data.query, row % data.heads, wanted.data());
    for (std::int64_t j = 0; j < d; ++j)
      comparison.add(to_double(static_cast<const T*>(data.out)[row * d + j]), wanted[static_cast<std::size_t>(j)]);
    comparison.end_row();
  }
  return comparison.error();
}

}  // namespace

AttentionCase::AttentionCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory)
    : heads(problem.dim("heads")) {
  const bool decode = problem.operation == Operation::kDecodeAttention;
  requests = decode ? problem.dim("requests") : 1;
  query = decode ? 1 : problem.dim("query");
  total = problem.dim("context") + (decode ? 0 : query);
  cache = {problem.dtype, nullptr, nullptr, problem.dim("kv_heads"), problem.dim("block"), problem.dim("head_dim")};
  const std::int64_t of_a_request = (total + cache.block - 1) / cache.block;
  cache_blocks = requests * of_a_request;
  Random random(seed);
  blocks = shuffled(cache_blocks, random);
  with_float_element(problem.dtype, [&](auto element) {
    using T = decltype(element);
    const std::int64_t q_count = requests * query * heads * cache.head_dim;
    const std::int64_t kv_count = cache_blocks * cache.kv_heads * cache.block * cache.head_dim;
    T *queries = memory.take<T>(q_count), *k = memory.take<T>(kv_count), *v = memory.take<T>(kv_count);
    T* outputs = memory.take<T>(q_count);
    random.fill(queries, q_count);
    random.fill(k, kv_count);
    random.fill(v, kv_count);
    for (std::int64_t request = 0; request < requests; ++request) {
      const std::int64_t first = request * query * heads * cache.head_dim;
      sequences.push_back({queries + first, outputs + first, blocks.data() + request * of_a_request, query, total});
    }
    q = queries;
    out = outputs;
    cache.k = k;
    cache.v = v;
  });
}

void AttentionCase::poison() {
  with_float_element(cache.dtype, [&](auto element) {
    kernels::poison(static_cast<decltype(element)*>(out), requests * query * heads * cache.head_dim);
  });
}

double AttentionCase::error() const {
  return with_float_element(cache.dtype, [&](auto element) { return error_in<decltype(element)>(*this); });
}

void attention_row(const KvCache& cache, std::int64_t heads, const AttentionSequence& sequence, std::int64_t token,
                   std::int64_t head, double* out) {
  with_float_element(cache.dtype,
                     [&](auto element) { row_in<decltype(element)>(cache, heads, sequence, token, head, out); });
}

}  // namespace poolcast::kernels
