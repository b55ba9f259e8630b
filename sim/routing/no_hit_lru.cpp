// SPDX-License-Identifier: Apache-2.0
// Rule: requests that no cache knows go to endpoints that have had none for the longest time, so that new prefixes
// spread. Source: llm-d's no-hit-lru-scorer.
#include <algorithm>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class NoHitLru : public Plugin, public Scorer {
 public:
  explicit NoHitLru(const Settings& settings) {
    const std::int64_t size = settings.integer("lruSize");
    size_ = static_cast<std::size_t>(size > 0 ? size : 1024);
  }

  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    cold_ = std::none_of(candidates.begin(), candidates.end(),
                         [&](std::uint32_t e) { return endpoints.prefix[e].match_blocks > 0; });
    if (!cold_) return std::fill(scores.begin(), scores.end(), 0.5);
    if (candidates.size() == 1) return std::fill(scores.begin(), scores.end(), 1.0);
    rank(candidates, scores);
  }

  void decided(const RequestView&, const Decision& decision) override {
    if (!cold_) return;
    if (decision.endpoint) touch(*decision.endpoint);
    if (decision.prefill) touch(*decision.prefill);
  }

 private:
  static constexpr std::size_t kNever = SIZE_MAX;

  /// Never used ones first, in order of the candidates; then by age among all that were used, candidates or not.
  void rank(std::span<const std::uint32_t> candidates, std::span<double> scores) {
    std::uint32_t last = 0;
    for (const std::uint32_t e : candidates) last = std::max(last, e);
    for (const std::uint32_t e : oldest_first_) last = std::max(last, e);
    place_.assign(last + 1, kNever);
    for (std::size_t i = 0; i < oldest_first_.size(); ++i) place_[oldest_first_[i]] = i;
    std::size_t never = 0;
    for (const std::uint32_t e : candidates) never += place_[e] == kNever;
    std::size_t unused = 0;
    const auto steps = static_cast<double>(candidates.size() - 1);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::size_t place = place_[candidates[i]];
      const std::size_t rank = place == kNever ? unused++ : never + place;
      scores[i] = std::max(0.0, 1.0 - static_cast<double>(rank) / steps);
    }
  }

  void touch(std::uint32_t endpoint) {
    const auto old = std::find(oldest_first_.begin(), oldest_first_.end(), endpoint);
    if (old != oldest_first_.end()) {
      oldest_first_.erase(old);
    } else if (oldest_first_.size() == size_) {
      oldest_first_.erase(oldest_first_.begin());
    }
    oldest_first_.push_back(endpoint);
  }

  std::size_t size_;
  bool cold_ = false;
  std::vector<std::uint32_t> oldest_first_;
  std::vector<std::size_t> place_;  ///< by endpoint, scratch
};

}  // namespace

void add_no_hit_lru(std::vector<PluginInfo>& table) {
  table.push_back({"no-hit-lru-scorer",
                   "scorer",
                   "llm-d",
                   "0.5 for all when any endpoint has a block of the prompt; else 1 - rank / (n - 1), never used ones "
                   "first, then those whose last cold request is oldest",
                   {{"lruSize", ParameterKind::kInteger, "1024", "", "endpoints remembered; below 1: 1024"},
                    {"prefixPluginType", ParameterKind::kText, "", "", "accepted and without effect"},
                    {"prefixPluginName", ParameterKind::kText, "", "", "accepted and without effect"}},
                   make_of_settings<NoHitLru>});
}

}  // namespace poolcast::routing
