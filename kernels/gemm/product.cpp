// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/product.h"

#include <cstring>
#include <utility>

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kMostCopies = 256;  // of small weights, which are evicted instead

std::int64_t weight_bytes(const GemmCase& data) { return data.n * data.k * bytes_per_element(data.dtype); }

}  // namespace

PreparedProduct::PreparedProduct(const KernelProblem& problem, std::uint64_t seed, Team& team, MakeWeight make)
    : case_(problem, seed, memory_), team_(team), make_(make) {
  weights_.push_back(make({case_.dtype, case_.n, case_.k}, case_.b, memory_));
}

void PreparedProduct::cool() {
  const std::int64_t copies = bytes_that_empty_caches() / weight_bytes(case_) + 2;
  if (copies > kMostCopies) return memory_.evict();
  if (weights_.size() == 1) {
    while (weights_.size() < static_cast<std::size_t>(copies)) copy_weight();
    memory_.evict();  // or the first runs wait for what was written to leave the caches
  }
  now_ = (now_ + 1) % weights_.size();
}

void PreparedProduct::copy_weight() {
  std::unique_ptr<Weight> copy = weights_[0]->copy(memory_);
  if (!copy) {
    char* const b = memory_.take<char>(weight_bytes(case_));
    std::memcpy(b, case_.b, static_cast<std::size_t>(weight_bytes(case_)));
    copy = make_({case_.dtype, case_.n, case_.k}, b, memory_);
    copy->expect(case_.m);
  }
  weights_.push_back(std::move(copy));
}

}  // namespace poolcast::kernels
