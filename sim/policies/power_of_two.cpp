// SPDX-License-Identifier: Apache-2.0
// Rule: draw two distinct candidates, take the one with less load for its weight; a tie goes to the first drawn.
// Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (2001).
#include "sim/policies/registry.h"

namespace poolcast {
namespace {

class PowerOfTwo : public Policy {
 public:
  explicit PowerOfTwo(RandomStream random) : random_(random) {}

  std::uint32_t choose(const Candidates& candidates) override {
    const std::uint64_t size = candidates.size();
    if (size == 1) return candidates.open[0];
    const std::uint64_t first = random_.below(size);
    const std::uint64_t offset = random_.below(size - 1) + 1;
    const std::uint32_t a = candidates.open[first];
    const std::uint32_t b = candidates.open[(first + offset) % size];
    return candidates.pressure(b) < candidates.pressure(a) ? b : a;
  }

 private:
  RandomStream random_;
};

}  // namespace

std::unique_ptr<Policy> make_power_of_two(RandomStream random) { return std::make_unique<PowerOfTwo>(random); }

}  // namespace poolcast
