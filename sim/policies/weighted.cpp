// SPDX-License-Identifier: Apache-2.0
// Rule: a candidate at random, its chance its weight over the sum of the weights of the open candidates. A weight of
// zero takes no traffic unless every open candidate has it.
// Source: weight semantics of llm-d's InferenceModelRewrite targets (share = weight / sum).
#include "sim/policies/registry.h"

namespace poolcast {
namespace {

class Weighted : public Policy {
 public:
  explicit Weighted(RandomStream random) : random_(random) {}

  std::uint32_t choose(const Candidates& candidates) override {
    double sum = 0;
    for (const std::uint32_t index : candidates.open) sum += candidates.weight[index];
    double left = random_.uniform() * sum;
    std::uint32_t chosen = candidates.open[0];
    for (const std::uint32_t index : candidates.open) {
      if (candidates.weight[index] <= 0) continue;
      chosen = index;
      left -= candidates.weight[index];
      if (left < 0) break;
    }
    return chosen;
  }

 private:
  RandomStream random_;
};

}  // namespace

std::unique_ptr<Policy> make_weighted(RandomStream random) { return std::make_unique<Weighted>(random); }

}  // namespace poolcast
