// SPDX-License-Identifier: Apache-2.0
#include "sim/meter.h"

#include <algorithm>

namespace poolcast {
namespace {

/// Mean gap between tokens, to the nearest nanosecond; requests of one token have none.
SimTime tpot(const RequestRecord& r) {
  const std::int64_t gaps = r.output_tokens - 1;
  return gaps > 0 ? (r.at.last_token - r.at.first_token + gaps / 2) / gaps : 0;
}

SimTime value_of(Metric metric, const RequestRecord& r) {
  switch (metric) {
    case Metric::kTtft:
      return r.at.first_token - r.at.intended;
    case Metric::kTpot:
      return tpot(r);
    case Metric::kItl:
      return tpot(r);
    case Metric::kE2e:
      return r.at.last_token - r.at.intended;
    case Metric::kQueueDelay:
      return r.at.first_scheduled - r.at.intended;
    case Metric::kNtpot:
      return (r.at.last_token - r.at.intended + r.output_tokens / 2) / r.output_tokens;
    case Metric::kTtftFromSent:
      return r.at.first_token - r.at.sent;
    case Metric::kE2eFromSent:
      return r.at.last_token - r.at.sent;
  }
  return 0;
}

}  // namespace

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
  Cell& c = cell(record.cls, record.pool);
  Outcomes& o = c.outcomes;
  ++o.offered;
  ++o.ended[static_cast<std::size_t>(record.outcome)];
  if (!completed) {
    ++o.reasons[static_cast<std::size_t>(record.reason)];
    return;
  }
  o.prompt_tokens += record.prompt_tokens;
  o.output_tokens += record.output_tokens;
  if (record.accepted) {
    ++o.accepted;
    o.accepted_output_tokens += record.output_tokens;
  }
  add_latencies(record, c.latencies);
}

bool Meter::meets_objectives(const RequestRecord& record) const {
  for (const Objective& objective : classes_[record.cls.value].objectives) {
    if (value_of(objective.metric, record) > objective.limit) return false;
  }
  return true;
}

void Meter::add_latencies(const RequestRecord& r, Latencies& latencies) const {
  latencies[Metric::kTtft].add(value_of(Metric::kTtft, r));
  latencies[Metric::kE2e].add(value_of(Metric::kE2e, r));
  latencies[Metric::kQueueDelay].add(value_of(Metric::kQueueDelay, r));
  latencies[Metric::kNtpot].add(value_of(Metric::kNtpot, r));
  if (r.output_tokens > 1) latencies[Metric::kTpot].add(tpot(r));
  if (!capped_clients_) return;
  latencies[Metric::kTtftFromSent].add(value_of(Metric::kTtftFromSent, r));
  latencies[Metric::kE2eFromSent].add(value_of(Metric::kE2eFromSent, r));
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
