// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/attention/attention_case.h"
#include "kernels/kernel.h"

namespace poolcast::kernels {

/// Decode attention by an implementation of Attend.
///
/// Cold is what a step finds: it comes from another layer, so neither the caches nor the tables that translate
/// addresses know this layer's K and V, while the queries were just written. `cool` therefore turns to the next of so
/// many copies of K and V that whatever was known of it has been displaced when it comes round again (as gemm/product.h
/// does with a weight). A cache below about 128 KB is evicted with all else, and so is one that
/// displaces itself.
class PreparedDecode final : public PreparedKernel {
 public:
  PreparedDecode(const KernelProblem& problem, std::uint64_t seed, Team& team, Attend attend);

  void run() override { attend_(case_.cache, case_.heads, case_.sequences, team_); }
  void poison() override { case_.poison(); }
  double error() override { return case_.error(); }
  void cool() override;

 private:
  void copy_cache();

  Memory memory_;
  AttentionCase case_;
  Team& team_;
  Attend attend_;
  std::int64_t bytes_;                           // of K, and of V
  std::int64_t copies_;                          // that empty the caches
  std::int64_t now_ = 0;                         // of them
  const std::byte *k_ = nullptr, *v_ = nullptr;  // [copies][bytes], once they are there
};

/// The same as Kernel::prepare.
template <Attend attend>
std::unique_ptr<PreparedKernel> prepare_decode(const KernelProblem& problem, std::uint64_t seed, Team& team) {
  return std::make_unique<PreparedDecode>(problem, seed, team, attend);
}

}  // namespace poolcast::kernels
