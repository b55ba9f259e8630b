// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tests/support/worlds.h"

namespace poolcast::testing {
namespace {

void append(std::string& text, const Histogram& h) {
  text += fmt::format(" [{} {} {} {} {} {}]", h.count(), h.mean(), h.quantile(0.5), h.quantile(0.9), h.quantile(0.99),
                      h.max());
}

void append(std::string& text, const RequestRecord& r) {
  text += fmt::format("{}/{} {} p{} r{} {} {} {}: {} {} {} {} {} {} {} | {} {} {} {} {} {} {}\n", r.source.value, r.row,
                      r.session, r.pool.value, r.replica.value, name(r.outcome), name(r.reason), r.ended, r.at.intended,
                      r.at.sent, r.at.routed, r.at.queued, r.at.first_scheduled, r.at.first_token, r.at.last_token,
                      r.prompt_tokens, r.output_tokens, r.cached_tokens, r.recomputed_tokens, r.preemptions, r.accepted,
                      r.measured);
}

void append(std::string& text, const ReplicaReport& r) {
  text += fmt::format(
      "replica {} {} {} {} {} busy {} work {} tokens {} running {} {} waiting {} kv {} {} {} preempted {} {} {} hits "
      "{} {} {} drafts {} {} {} {} host {}\n",
      r.requests, r.completed, r.steps, r.decode_steps, r.extrapolated_steps, r.busy, r.stage_work, r.scheduled_tokens,
      r.running_steps, r.running_max, r.waiting_max, r.kv_block_steps, r.kv_blocks_max, r.kv_blocks_usable,
      r.preemptions, r.recomputed_tokens, r.stalled, r.prefix.queries, r.prefix.hits, r.prefix.resumed_hits,
      r.speculation.checks, r.speculation.drafted, r.speculation.accepted, r.rejected_tokens, r.prefix.host_hits);
}

void append(std::string& text, const MoveReport& move) {
  text += fmt::format("move {} {}\n", static_cast<int>(move.outcome), move.decided);
  for (const MoveStepReport& step : move.steps) {
    text += fmt::format("step {} {} {} {} {} chosen {} {}", static_cast<int>(step.kind), step.share, step.begin,
                        step.end, static_cast<int>(step.ended), step.chosen, step.not_taken);
    for (const MoveArm* arm : {&step.moved, &step.stayed}) {
      text += fmt::format(" {} {} {} {} {}", arm->cell.outcomes.offered, arm->cell.outcomes.accepted,
                          arm->all.cached_tokens, arm->first.cached_tokens, arm->all.ideal_tokens);
    }
    for (const GateResult& gate : step.gates) {
      text += fmt::format(" gate {} {} {} {}", static_cast<int>(gate.verdict), gate.value.value_or(-1),
                          gate.limit.value_or(-1), gate.requests);
    }
    text += '\n';
  }
}

void append(std::string& text, const GatewayReport& gateway) {
  for (const FallbackReport& f : gateway.fallbacks) {
    text += fmt::format("fallback {} {} {} {}\n", static_cast<int>(f.kind), f.from, f.to.value, f.requests);
  }
  for (const CooldownReport& c : gateway.cooldowns) {
    text += fmt::format("cooldown {} {} {}\n", c.failures, c.begun, c.rested);
  }
  for (const QuotaReport& q : gateway.quotas) text += fmt::format("quota {} {} {}\n", q.passed, q.beyond, q.tokens);
  for (const MirrorReport& m : gateway.mirrors) {
    text +=
        fmt::format("mirror {} {} {} {}", m.sent, m.refused, m.cell.outcomes.offered, m.cell.outcomes.output_tokens);
    for (const Histogram& h : m.cell.latencies.by_metric) append(text, h);
    text += '\n';
  }
  for (const RetryReport& r : gateway.retries) {
    text += fmt::format("retries {} {} {} {} {} {}\n", r.attempts, r.retries, r.denied, r.exhausted, r.too_late,
                        r.lost_tokens);
  }
}

}  // namespace

std::string fingerprint(const Report& report, const std::vector<RequestRecord>& records) {
  std::string text = fmt::format("{} {} {} {} {} {} steps {}\n", report.first_arrival, report.last_arrival, report.end,
                                 report.measured_begin, report.measured_end, report.warm_up_requests, report.steps);
  text += fmt::format("transfers {} {} {}\n", report.transfers, report.transferred_bytes, report.transfer_time);
  text += fmt::format("host {} {} {}\n", report.host_loads, report.host_loaded_bytes, report.host_load_time);
  for (const RequestRecord& record : records) append(text, record);
  for (const ReplicaReport& replica : report.replicas) append(text, replica);
  for (const auto& row : report.cells) {
    for (const Cell& cell : row) {
      text += fmt::format("cell {} {} {}", cell.outcomes.offered, cell.outcomes.accepted, cell.outcomes.output_tokens);
      for (const Histogram& h : cell.latencies.by_metric) append(text, h);
      text += '\n';
    }
  }
  for (const Window& w : report.windows) {
    text += fmt::format("window {} {} {} {} {}\n", w.begin, w.end, w.arrived, w.ended, w.mean_in_system);
  }
  for (const MoveReport& move : report.moves) append(text, move);
  for (const FlowReport& f : report.flows) {
    text += fmt::format("flow {} {} {} {} {} {} {} {}\n", f.longest, f.came, f.dispatched, f.found_full, f.expired,
                        f.given_up, f.wait, f.longest_wait);
  }
  append(text, report.gateway);
  return text;
}

std::string fingerprint_of(SimulationSpec spec, bool stepwise, Report* report) {
  spec.stepwise = stepwise;
  Recorder recorder;
  Report result = simulate(std::move(spec), {&recorder});
  std::string text = fingerprint(result, recorder.records);
  if (report) *report = std::move(result);
  return text;
}

std::string first_difference(const std::string& leap, const std::string& stepwise) {
  std::size_t at = 0;
  while (at < leap.size() && at < stepwise.size() && leap[at] == stepwise[at]) ++at;
  const std::size_t begin = leap.rfind('\n', at) + 1;
  return "leap:     " + leap.substr(begin, leap.find('\n', at) - begin) +
         "\nstepwise: " + stepwise.substr(begin, stepwise.find('\n', at) - begin);
}

}  // namespace poolcast::testing
