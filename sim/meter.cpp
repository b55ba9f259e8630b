// SPDX-License-Identifier: Apache-2.0
#include "sim/meter.h"

#include <algorithm>

namespace poolcast {

Meter::Meter(const SimulationSpec& spec)
    : classes_(spec.classes), measure_(spec.measure), pools_(spec.pools.size()), capped_clients_(false) {
  for (const SourceSpec& s : spec.sources) {
    capped_clients_ |= s.max_concurrency != INT64_MAX;
    report_.has_prefix_data |= s.source->has_prefix_data();
  }
  report_.cells.assign(classes_.size(), std::vector<Cell>(pools_ + 1));
}

std::vector<Histogram*> Meter::gaps_of_pool(PoolId pool) {
  std::vector<Histogram*> gaps;
  for (std::size_t c = 0; c < classes_.size(); ++c) gaps.push_back(&cell(ClassId(c), pool).latencies[Metric::kItl]);
  gaps.push_back(nullptr);
  return gaps;
}

void Meter::sent(RequestRecord& record) {
  const SimTime intended = record.at.intended;
  record.measured = intended >= measure_.warm_up && intended < measure_.until && offered_ >= measure_.warm_up_requests;
  ++offered_;
  if (!record.measured) ++report_.warm_up_requests;
  if (record.measured && report_.measured_begin == kNever) report_.measured_begin = intended;
  report_.first_arrival = std::min(report_.first_arrival, intended);
  report_.last_arrival = std::max(report_.last_arrival, intended);
}

void Meter::ended(RequestRecord& record) {
  ++ended_;
  backlog_.ended(record.ended);
  const bool completed = record.outcome == Outcome::kCompleted;
  record.accepted = completed && meets_objectives(record);
  if (!record.measured) return;

  report_.measured_end = std::max(report_.measured_end, record.ended);
  cell(record.cls, record.pool).add(record, capped_clients_);
}

bool Meter::meets_objectives(const RequestRecord& record) const {
  for (const Objective& objective : classes_[record.cls.value].objectives) {
    if (value_of(objective.metric, record) > objective.limit) return false;
  }
  return true;
}

Report Meter::take(SimTime end) {
  report_.end = end;
  if (report_.measured_begin == kNever) report_.measured_begin = report_.measured_end = end;
  if (measure_.warm_up > 0 && measure_.warm_up < report_.measured_end) report_.measured_begin = measure_.warm_up;
  // A window that ends before the load does is as long as it says: its last requests end when others, which do not
  // count, are served as well.
  if (measure_.until <= report_.last_arrival) report_.measured_end = measure_.until;
  backlog_.report(end, report_);
  return std::move(report_);
}

}  // namespace poolcast
