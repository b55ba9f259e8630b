// SPDX-License-Identifier: Apache-2.0
// Scorers of the engine's own counts: requests waiting and running.
// Source: llm-d's queue-scorer, running-requests-size-scorer, load-aware-scorer.
#include <algorithm>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

/// (max - count) / (max - min) over the candidates; 1 for all when all are equal.
void score_fewest(const std::vector<std::int64_t>& counts, std::span<const std::uint32_t> candidates,
                  std::span<double> scores) {
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (const std::uint32_t e : candidates) {
    least = std::min(least, counts[e]);
    most = std::max(most, counts[e]);
  }
  if (least >= most) return std::fill(scores.begin(), scores.end(), 1.0);
  const auto range = static_cast<double>(most - least);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    scores[i] = static_cast<double>(most - counts[candidates[i]]) / range;
  }
}

class QueueScorer : public Plugin, public Scorer {
 public:
  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    need_metrics(endpoints, candidates);
    score_fewest(endpoints.waiting, candidates, scores);
  }
};

class RunningScorer : public Plugin, public Scorer {
 public:
  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    need_metrics(endpoints, candidates);
    score_fewest(endpoints.running, candidates, scores);
  }
};

class LoadAwareScorer : public Plugin, public Scorer {
 public:
  explicit LoadAwareScorer(const Settings& settings) {
    const double given = settings.number("threshold");
    threshold_ = given > 0 ? given : 128;
  }

  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    need_metrics(endpoints, candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto waiting = static_cast<double>(endpoints.waiting[candidates[i]]);
      scores[i] = waiting == 0 ? 0.5 : 0.5 * (1.0 - std::min(waiting, threshold_) / threshold_);
    }
  }

 private:
  double threshold_;
};

}  // namespace

void add_queue_scorers(std::vector<PluginInfo>& table) {
  table.push_back({"queue-scorer",
                   "scorer",
                   "llm-d",
                   "(max - q) / (max - min) of the waiting requests q over the endpoints left; all equal: 1",
                   {},
                   make_simple<QueueScorer>});
  table.push_back({"running-requests-size-scorer",
                   "scorer",
                   "llm-d",
                   "(max - r) / (max - min) of the running requests r over the endpoints left; all equal: 1",
                   {},
                   make_simple<RunningScorer>});
  table.push_back(
      {"load-aware-scorer",
       "scorer",
       "llm-d",
       "0.5 with an empty queue, else 0.5 (1 - min(q, threshold) / threshold)",
       {{"threshold", ParameterKind::kInteger, "128", "", "waiting requests at which the score is 0; below 1: 128"}},
       make_of_settings<LoadAwareScorer>});
}

}  // namespace poolcast::routing
