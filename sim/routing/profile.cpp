// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/profile.h"

#include <algorithm>
#include <utility>

namespace poolcast::routing {

bool Profile::add(Plugin& plugin, double weight, const std::string& name) {
  if (auto* picker = dynamic_cast<Picker*>(&plugin)) {
    if (picker_ != nullptr) return false;
    picker_ = picker;
    picker_name_ = name;
  }
  if (auto* filter = dynamic_cast<Filter*>(&plugin)) filters_.push_back({filter, name});
  if (auto* scorer = dynamic_cast<Scorer*>(&plugin)) scorers_.push_back({scorer, weight, name});
  return true;
}

std::span<const std::uint32_t> Profile::run(const RequestView& request, const Endpoints& endpoints,
                                            std::span<const std::uint32_t> endpoints_open) {
  kept_.assign(endpoints_open.begin(), endpoints_open.end());
  picked_.clear();
  run_filters(request, endpoints);
  totals_.assign(kept_.size(), 0.0);
  if (kept_.empty()) return picked_;
  add_scores(request, endpoints);
  if (trace_ != nullptr) trace_->kept = kept_, trace_->totals = totals_, trace_->picker = picker_name_;
  if (picker_->takes_order()) shuffle();
  picker_->look(request, endpoints);
  picker_->pick(kept_, totals_, picked_);
  if (trace_ != nullptr) trace_->picked = picked_;
  return picked_;
}

void Profile::run_filters(const RequestView& request, const Endpoints& endpoints) {
  if (trace_ != nullptr) *trace_ = {}, trace_->open = kept_;
  for (const Named& f : filters_) {
    if (kept_.empty()) return;
    std::vector<std::uint32_t> before;
    if (trace_ != nullptr) before = kept_;
    f.filter->filter(request, endpoints, kept_);
    if (trace_ != nullptr) trace_->dropped(f.name, before, kept_);
  }
}

void Profile::add_scores(const RequestView& request, const Endpoints& endpoints) {
  scores_.resize(kept_.size());
  for (const Weighted& w : scorers_) {
    w.scorer->score(request, endpoints, kept_, scores_);
    if (trace_ != nullptr) trace_->scorers.push_back({w.name, w.weight, scores_});
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
