// SPDX-License-Identifier: Apache-2.0
// Rule: the next candidate after the last one chosen, in order of index, around. A candidate that is closed for a while
// is passed over and keeps its place.
#include <algorithm>

#include "sim/policies/registry.h"

namespace poolcast {
namespace {

class RoundRobin : public Policy {
 public:
  std::uint32_t choose(const Candidates& candidates) override {
    const auto& open = candidates.open;
    // With nothing closed the candidate's place is its index, and no search is needed.
    const bool all = open.back() + 1 == open.size();
    const auto next = all ? open.begin() + std::min<std::size_t>(next_, open.size())
                          : std::lower_bound(open.begin(), open.end(), next_);
    const std::uint32_t chosen = next == open.end() ? open.front() : *next;
    next_ = chosen + 1;
    return chosen;
  }

 private:
  std::uint32_t next_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_round_robin(RandomStream) { return std::make_unique<RoundRobin>(); }

}  // namespace poolcast
