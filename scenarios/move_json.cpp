// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "scenarios/move_summary.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

double seconds(SimTime t) { return static_cast<double>(t) / 1e9; }

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

const char* name(MoveGate::What what) {
  constexpr const char* kNames[] = {"latency", "error_rate", "eligible"};
  return kNames[static_cast<int>(what)];
}

Json gate_json(const GateResult& r) {
  constexpr const char* kVerdicts[] = {"passed", "failed", "too_few"};
  Json json;
  if (r.gate.what == MoveGate::What::kLatency) {
    json = {{"gate", poolcast::name(r.gate.metric)}, {"percentile", r.gate.percentile}};
  } else {
    json = {{"gate", name(r.gate.what)}};
  }
  json["verdict"] = kVerdicts[static_cast<int>(r.verdict)];
  json["value"] = or_null(r.value);
  json["limit"] = or_null(r.limit);
  if (r.gate.relative) json["times_those_that_stayed"] = r.gate.limit;
  json["judged_on"] = r.requests;
  return json;
}

Json arm_json(const MoveArm& arm) {
  const Outcomes& o = arm.cell.outcomes;
  const auto p99 = [&](Metric metric) {
    const Histogram& h = arm.cell.latencies[metric];
    return h.count() == 0 ? Json() : Json(seconds(h.quantile(0.99)));
  };
  return {{"offered", o.offered},
          {"completed", o.count(Outcome::kCompleted)},
          {"accepted", o.accepted},
          {"ttft_p99_s", p99(Metric::kTtft)},
          {"tpot_p99_s", p99(Metric::kTpot)},
          {"e2e_p99_s", p99(Metric::kE2e)},
          {"scheduled_prompt_tokens", arm.all.prompt_tokens},
          {"cached_prompt_tokens", arm.all.cached_tokens},
          {"hit_rate", or_null(hit_rate(arm.all))},
          {"hit_rate_at_first", or_null(hit_rate(arm.first))},
          {"computed_again_tokens", recomputed(arm.all)},
          {"computed_again_at_first_tokens", recomputed(arm.first)}};
}

Json step_json(const MoveStepReport& step) {
  constexpr const char* kKinds[] = {"before", "forward", "held", "back"};
  constexpr const char* kEnds[] = {"passed", "failed", "aborted", "run_ended", "no_gate"};
  Json json = {{"kind", kKinds[static_cast<int>(step.kind)]},
               {"share", step.share},
               {"begin_s", seconds(step.begin)},
               {"end_s", seconds(step.end)},
               {"ended", kEnds[static_cast<int>(step.ended)]},
               {"chosen", step.chosen},
               {"not_taken", step.not_taken},
               {"reasons", Json::object()},
               {"moved", arm_json(step.moved)},
               {"stayed", arm_json(step.stayed)},
               {"gates", Json::array()}};
  for (int i = 1; i < kReasons; ++i) {
    const std::uint64_t count = step.reasons[static_cast<std::size_t>(i)];
    if (count > 0) json["reasons"][poolcast::name(static_cast<Reason>(i))] = count;
  }
  for (const GateResult& gate : step.gates) json["gates"].push_back(gate_json(gate));
  return json;
}

}  // namespace

nlohmann::ordered_json move_json(const MoveSummary& move) {
  constexpr const char* kEnds[] = {"completed", "rolled_back", "run_ended", "not_qualified"};
  const MoveReport& r = move.report;
  Json json = {{"from", move.facts.from},
               {"to", move.facts.to},
               {"class", move.facts.cls.empty() ? Json() : Json(move.facts.cls)},
               {"outcome", kEnds[static_cast<int>(r.outcome)]},
               {"decided_s", r.decided == kNever ? Json() : Json(seconds(r.decided))},
               {"reason", outcome_text(move)},
               {"causes", Json::array()},
               {"steps", Json::array()}};
  for (const GateResult& cause : r.causes) json["causes"].push_back(gate_json(cause));
  for (const MoveStepReport& step : r.steps) json["steps"].push_back(step_json(step));
  return json;
}

}  // namespace poolcast
