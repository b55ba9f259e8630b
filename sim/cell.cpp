// SPDX-License-Identifier: Apache-2.0
#include "sim/cell.h"

namespace poolcast {
namespace {

/// Mean gap between tokens, to the nearest nanosecond; requests of one token have none.
SimTime tpot(const RequestRecord& r) {
  const std::int64_t gaps = r.output_tokens - 1;
  return gaps > 0 ? (r.at.last_token - r.at.first_token + gaps / 2) / gaps : 0;
}

void add_latencies(const RequestRecord& r, bool capped_clients, Latencies& latencies) {
  for (const Metric metric : {Metric::kTtft, Metric::kE2e, Metric::kQueueDelay, Metric::kNtpot}) {
    latencies[metric].add(value_of(metric, r));
  }
  if (r.output_tokens > 1) latencies[Metric::kTpot].add(tpot(r));
  if (!capped_clients) return;
  latencies[Metric::kTtftFromSent].add(value_of(Metric::kTtftFromSent, r));
  latencies[Metric::kE2eFromSent].add(value_of(Metric::kE2eFromSent, r));
}

}  // namespace

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

void Cell::add(const RequestRecord& record, bool capped_clients) {
  const bool completed = record.outcome == Outcome::kCompleted;
  ++outcomes.offered;
  ++outcomes.ended[static_cast<std::size_t>(record.outcome)];
  if (!completed) {
    ++outcomes.reasons[static_cast<std::size_t>(record.reason)];
    return;
  }
  outcomes.prompt_tokens += record.prompt_tokens;
  outcomes.output_tokens += record.output_tokens;
  if (record.accepted) {
    ++outcomes.accepted;
    outcomes.accepted_output_tokens += record.output_tokens;
  }
  add_latencies(record, capped_clients, latencies);
}

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

}  // namespace poolcast
