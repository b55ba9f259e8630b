// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/profile.h"

#include <algorithm>
#include <utility>

namespace poolcast::routing {

bool Profile::add(Plugin& plugin, double weight) {
  if (auto* picker = dynamic_cast<Picker*>(&plugin)) {
    if (picker_ != nullptr) return false;
    picker_ = picker;
  }
  if (auto* filter = dynamic_cast<Filter*>(&plugin)) filters_.push_back(filter);
  if (auto* scorer = dynamic_cast<Scorer*>(&plugin)) scorers_.push_back({scorer, weight});
  return true;
}

std::span<const std::uint32_t> Profile::run(const RequestView& request, const Endpoints& endpoints,
                                            std::span<const std::uint32_t> endpoints_open) {
  kept_.assign(endpoints_open.begin(), endpoints_open.end());
  picked_.clear();
  for (Filter* filter : filters_) {
    if (kept_.empty()) break;
    filter->filter(request, endpoints, kept_);
  }
  totals_.assign(kept_.size(), 0.0);
  if (kept_.empty()) return picked_;
  add_scores(request, endpoints);
  if (picker_->takes_order()) shuffle();
  picker_->look(request, endpoints);
  picker_->pick(kept_, totals_, picked_);
  return picked_;
}

void Profile::add_scores(const RequestView& request, const Endpoints& endpoints) {
  scores_.resize(kept_.size());
  for (const Weighted& w : scorers_) {
    w.scorer->score(request, endpoints, kept_, scores_);
    for (std::size_t i = 0; i < scores_.size(); ++i) totals_[i] += std::clamp(scores_[i], 0.0, 1.0) * w.weight;
  }
}

void Profile::shuffle() {
  for (std::size_t i = 0; i + 1 < kept_.size(); ++i) {
    const std::size_t other = i + random_.below(kept_.size() - i);
    std::swap(kept_[i], kept_[other]);
    std::swap(totals_[i], totals_[other]);
  }
}

}  // namespace poolcast::routing
