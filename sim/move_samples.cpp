// SPDX-License-Identifier: Apache-2.0
#include "sim/move_samples.h"

#include <algorithm>
#include <cmath>

#include "sim/cell.h"

namespace poolcast {
namespace {

constexpr Metric kSampled[] = {Metric::kTtft, Metric::kTpot,       Metric::kItl,
                               Metric::kE2e,  Metric::kQueueDelay, Metric::kNtpot};

bool is_of_gaps(Metric metric) { return metric == Metric::kTpot || metric == Metric::kItl; }

/// The latency that a request in flight has reached, or nothing where that says nothing.
std::optional<SimTime> so_far(Metric metric, const RequestRecord& r, SimTime now) {
  const auto since = [&](SimTime instant) { return std::min(instant, now) - r.at.intended; };
  if (metric == Metric::kTtft) return since(r.at.first_token);
  if (metric == Metric::kQueueDelay) return since(r.at.first_scheduled);
  if (metric == Metric::kE2e) return now - r.at.intended;
  return std::nullopt;
}

}  // namespace

void MoveSamples::sent(RequestId id) {
  ++sent_;
  if (place_.size() <= id.value) place_.resize(id.value + std::size_t{1});
  place_[id.value] = static_cast<std::uint32_t>(flying_.size());
  flying_.push_back(id);
}

void MoveSamples::ended(RequestId id, const RequestRecord& record) {
  ++ended_;
  const std::uint32_t place = place_[id.value];
  flying_[place] = flying_.back();
  place_[flying_[place].value] = place;
  flying_.pop_back();
  const bool completed = record.outcome == Outcome::kCompleted;
  errors_ += !completed;
  for (const Metric metric : kSampled) {
    if (is_of_gaps(metric) && (!completed || record.output_tokens < 2)) continue;
    values_[static_cast<std::size_t>(metric)].push_back(completed ? value_of(metric, record) : kNever);
  }
}

std::optional<SimTime> MoveSamples::percentile(Metric metric, double percentile, SimTime now,
                                               const RequestTable& table) const {
  std::vector<SimTime> samples = values_[static_cast<std::size_t>(metric)];
  for (const RequestId id : flying_) {
    if (const auto value = so_far(metric, table.record(id), now)) samples.push_back(*value);
  }
  if (samples.empty()) return std::nullopt;
  const auto count = static_cast<double>(samples.size());
  const auto rank =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(percentile / 100 * count)), 1, samples.size());
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

}  // namespace poolcast
