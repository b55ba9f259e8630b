// SPDX-License-Identifier: Apache-2.0
// Rule: the candidate of the lowest score, the first of equals from a start on that moves on by one with each request.
//   vllm-dplb         max(in flight, waiting + running) + (waiting > 0 ? waiting * 6 * max(0, KV usage - 0.5) : 0)
//   vllm-dplb-queue   4 * waiting + running
// Source: vLLM's internal balancer of data-parallel ranks, vllm/v1/engine/core_client.py:1471 at 017e9f4448, and the
// rule that it had before. vLLM multiplies what is in flight by the number of its API servers, each of which knows its
// own requests only: here there is one, and it sees the counts as they are.
#include <algorithm>

#include "sim/policies/registry.h"

namespace poolcast {
namespace {

using Score = double (*)(const Candidates&, std::uint32_t);

double by_kv_pressure(const Candidates& candidates, std::uint32_t index) {
  const Signals& signals = *candidates.signals;
  const std::int64_t waiting = signals.waiting(index);
  const auto requests = static_cast<double>(std::max(candidates.load[index], waiting + signals.running(index)));
  if (waiting == 0) return requests;
  return requests + static_cast<double>(waiting) * 6 * std::max(0.0, signals.kv_usage(index) - 0.5);
}

double by_queue(const Candidates& candidates, std::uint32_t index) {
  const Signals& signals = *candidates.signals;
  return static_cast<double>(4 * signals.waiting(index) + signals.running(index));
}

class VllmDplb : public Policy {
 public:
  explicit VllmDplb(Score score) : score_(score) {}

  std::uint32_t choose(const Candidates& candidates) override {
    const auto& open = candidates.open;
    const auto first = static_cast<std::size_t>(std::lower_bound(open.begin(), open.end(), start_) - open.begin());
    std::uint32_t best = 0;
    double lowest = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::uint32_t index = open[(first + i) % open.size()];
      const double score = score_(candidates, index);
      if (i > 0 && score >= lowest) continue;
      best = index;
      lowest = score;
    }
    start_ = static_cast<std::uint32_t>((start_ + 1) % candidates.load.size());
    return best;
  }

 private:
  Score score_;
  std::uint32_t start_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_vllm_dplb(RandomStream) { return std::make_unique<VllmDplb>(by_kv_pressure); }

std::unique_ptr<Policy> make_vllm_dplb_queue(RandomStream) { return std::make_unique<VllmDplb>(by_queue); }

}  // namespace poolcast
