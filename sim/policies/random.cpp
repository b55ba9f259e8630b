// SPDX-License-Identifier: Apache-2.0
// Rule: any candidate, equally likely, whatever its load or weight.
#include "sim/policies/registry.h"

namespace poolcast {
namespace {

class Random : public Policy {
 public:
  explicit Random(RandomStream random) : random_(random) {}

  std::uint32_t choose(const Candidates& candidates) override {
    return candidates.open[random_.below(candidates.size())];
  }

 private:
  RandomStream random_;
};

}  // namespace

std::unique_ptr<Policy> make_random(RandomStream random) { return std::make_unique<Random>(random); }

}  // namespace poolcast
