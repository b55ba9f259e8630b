// SPDX-License-Identifier: Apache-2.0
#include "sim/report.h"

namespace poolcast {

void Outcomes::merge(const Outcomes& other) {
  offered += other.offered;
  for (std::size_t i = 0; i < ended.size(); ++i) ended[i] += other.ended[i];
  accepted += other.accepted;
  for (std::size_t i = 0; i < reasons.size(); ++i) reasons[i] += other.reasons[i];
  prompt_tokens += other.prompt_tokens;
  output_tokens += other.output_tokens;
  accepted_output_tokens += other.accepted_output_tokens;
}

void Latencies::merge(const Latencies& other) {
  for (std::size_t i = 0; i < by_metric.size(); ++i) by_metric[i].merge(other.by_metric[i]);
}

void Cell::merge(const Cell& other) {
  outcomes.merge(other.outcomes);
  latencies.merge(other.latencies);
}

Cell Report::total() const {
  Cell sum;
  for (const auto& row : cells) {
    for (const Cell& cell : row) sum.merge(cell);
  }
  return sum;
}

Cell Report::of_class(ClassId cls) const {
  Cell sum;
  for (const Cell& cell : cells[cls.value]) sum.merge(cell);
  return sum;
}

Cell Report::of_pool(PoolId pool) const {
  Cell sum;
  for (const auto& row : cells) sum.merge(row[pool.value]);
  return sum;
}

}  // namespace poolcast
