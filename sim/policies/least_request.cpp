// SPDX-License-Identifier: Apache-2.0
// Rule: the candidate with the least load for its weight, over all candidates; ties at random (reservoir of one).
// Source: Envoy's LEAST_REQUEST in its full-scan form. Load counts running and waiting requests: counting the waiting
// ones alone sends everything to one replica while no queue has formed.
#include "sim/policies/registry.h"

namespace poolcast {
namespace {

class LeastRequest : public Policy {
 public:
  explicit LeastRequest(RandomStream random) : random_(random) {}

  std::uint32_t choose(const Candidates& candidates) override {
    std::uint32_t best = candidates.open[0];
    double least = candidates.pressure(best);
    std::uint64_t ties = 1;
    for (const std::uint32_t index : candidates.open.subspan(1)) {
      const double pressure = candidates.pressure(index);
      if (pressure > least) continue;
      ties = pressure < least ? 1 : ties + 1;
      if (ties == 1 || random_.below(ties) == 0) best = index;
      least = pressure;
    }
    return best;
  }

 private:
  RandomStream random_;
};

}  // namespace

std::unique_ptr<Policy> make_least_request(RandomStream random) { return std::make_unique<LeastRequest>(random); }

}  // namespace poolcast
