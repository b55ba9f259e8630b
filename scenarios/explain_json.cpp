// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <nlohmann/json.hpp>

#include "scenarios/explain_text.h"
#include "scenarios/explain_way.h"
#include "scenarios/json_text.h"
#include "sim/gates.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

Json instant(SimTime t) { return t == kNever ? Json() : Json(t); }
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json index(std::uint32_t value) { return value == UINT32_MAX ? Json() : Json(value); }

Json request_json(const Explanation& e) {
  const RequestRecord& r = e.request;
  Json json = {{"source", r.source.value}, {"row", r.row}};
  json["session"] = r.session == UINT64_MAX ? Json() : Json(r.session);
  json["model"] = e.facts.models[r.model.value];
  json["class"] = e.facts.classes[r.cls.value].name;
  json["pool"] = r.pool.valid() ? Json(e.facts.pools[r.pool.value].name) : Json();
  json["replica"] = index(r.replica.value);
  json["prompt_tokens"] = r.prompt_tokens;
  json["cached_tokens"] = r.cached_tokens;
  json["recomputed_tokens"] = r.recomputed_tokens;
  json["output_tokens"] = r.output_tokens;
  json["output_target_tokens"] = r.output_target;
  json["priority"] = r.priority;
  json["outcome"] = name(r.outcome);
  json["reason"] = name(r.reason);
  json["accepted"] = r.accepted;
  json["measured"] = r.measured;
  json["preemptions"] = r.preemptions;
  json["retries"] = r.retries;
  json["intended_ns"] = instant(r.at.intended);
  json["sent_ns"] = instant(r.at.sent);
  json["routed_ns"] = instant(r.at.routed);
  json["queued_ns"] = instant(r.at.queued);
  json["first_scheduled_ns"] = instant(r.at.first_scheduled);
  json["first_token_ns"] = instant(r.at.first_token);
  json["last_token_ns"] = instant(r.at.last_token);
  json["ended_ns"] = instant(r.ended);
  return json;
}

Json policy_json(const Explanation& e, const DecisionLog::PolicyChoice& choice) {
  Json candidates = Json::array();
  for (const auto& c : choice.candidates) {
    Json json;
    if (choice.ranks_of != UINT32_MAX) {
      json["rank"] = c.index;
    } else if (choice.pool.valid()) {
      json["replica"] = c.index;
    } else {
      json["pool"] = e.facts.pools[c.index].name;
    }
    json["load"] = c.load;
    json["weight"] = c.weight;
    json["waiting"] = c.waiting;
    json["running"] = c.running;
    json["kv_usage"] = number(c.kv_usage);
    json["refused"] = c.refused == Reason::kNone ? Json() : Json(name(c.refused));
    if (!choice.pool.valid()) {
      json["kept_out"] = c.kept_out == DecisionLog::KeptOut::kNo ? Json() : Json(name(c.kept_out));
    }
    for (std::size_t gate = 0; gate < c.gates.size(); ++gate) {
      json["gates"][name(static_cast<Gate>(gate))] = c.gates[gate] == Reason::kNone ? "passed" : name(c.gates[gate]);
    }
    json["chosen"] = c.index == choice.chosen;
    candidates.push_back(json);
  }
  Json json = {{"at_ns", choice.at}};
  if (choice.pool.valid()) json["pool"] = e.facts.pools[choice.pool.value].name;
  if (choice.ranks_of != UINT32_MAX) json["ranks_of"] = choice.ranks_of;
  if (choice.model.valid()) json["model"] = e.facts.models[choice.model.value];
  if (choice.prefill) json["prefill"] = true;
  json["policy"] = choice.policy;
  json["candidates"] = candidates;
  return json;
}

Json turn_json(const Explanation& e, const DecisionLog::Turn& turn) {
  return {{"at_ns", turn.at},
          {"why", name(turn.why)},
          {"model", e.facts.models[turn.model.value]},
          {"pool", turn.pool.valid() ? Json(e.facts.pools[turn.pool.value].name) : Json()},
          {"refused", turn.refused == Reason::kNone ? Json() : Json(name(turn.refused))}};
}

Json seen_json(const routing::Endpoints& seen, std::uint32_t replica) {
  Json json = {{"replica", replica},
               {"waiting", seen.waiting[replica]},
               {"running", seen.running[replica]},
               {"kv_usage", number(seen.kv_usage[replica])},
               {"metric_age_ms", number(seen.metric_age_ms[replica])},
               {"in_flight_requests", seen.in_flight_requests[replica]},
               {"in_flight_tokens", seen.in_flight_tokens[replica]},
               {"match_blocks", seen.prefix[replica].match_blocks},
               {"total_blocks", seen.prefix[replica].total_blocks}};
  if (!seen.approximate.empty()) json["approximate_match_blocks"] = seen.approximate[replica].match_blocks;
  if (!seen.busy.empty()) json["busy"] = number(seen.busy[replica]);
  return json;
}

Json pipeline_json(const Explanation& e, const DecisionLog::PipelineChoice& choice) {
  const auto& t = choice.trace;
  Json json = {{"at_ns", choice.at}, {"pool", e.facts.pools[choice.pool.value].name}};
  json["replicas"] = Json::array();
  for (const std::uint32_t replica : t.open) json["replicas"].push_back(seen_json(choice.seen, replica));
  json["filters"] = Json::array();
  for (const auto& f : t.filters) json["filters"].push_back({{"plugin", f.plugin}, {"dropped", f.dropped}});
  json["scores"] = Json::array();
  for (std::size_t i = 0; i < t.kept.size(); ++i) {
    Json by_plugin = Json::object();
    for (const auto& s : t.scorers) by_plugin[s.plugin] = number(s.scores[i]);
    json["scores"].push_back({{"replica", t.kept[i]}, {"by_plugin", by_plugin}, {"total", number(t.totals[i])}});
  }
  json["weights"] = Json::object();
  for (const auto& s : t.scorers) json["weights"][s.plugin] = s.weight;
  json["picker"] = t.picker;
  json["picked"] = t.picked;
  json["chosen"] = index(choice.chosen);
  return json;
}

Json stage_json(const DecisionLog::Stage& s) {
  using Kind = DecisionLog::Stage::Kind;
  constexpr const char* kNames[] = {"queued", "prefill", "decode", "starved", "preempted"};
  Json json = {{"what", kNames[static_cast<int>(s.kind)]}, {"replica", s.replica.value}, {"start_ns", s.start}};
  if (s.kind == Kind::kQueued) {
    json["waiting_before"] = s.least_batch;
    json["running"] = s.most_batch;
    return json;
  }
  json["tokens"] = s.tokens;
  if (s.kind == Kind::kPreempted) return json;
  json["end_ns"] = s.end;
  json["steps"] = s.steps;
  if (s.kind == Kind::kPrefill) json["context_before"] = s.context;
  json["least_requests"] = s.least_batch;
  json["most_requests"] = s.most_batch;
  return json;
}

template <class List, class Make>
Json list(const List& values, Make make) {
  Json json = Json::array();
  for (const auto& value : values) json.push_back(make(value));
  return json;
}

Json whole(const Explanation& e) {
  Json json = {{"scenario", e.facts.scenario}, {"scenario_digest", e.facts.scenario_digest}, {"seed", e.facts.seed}};
  json["request"] = request_json(e);
  json["gateway"] = list(e.log.gateway, [&](const auto& choice) { return policy_json(e, choice); });
  json["way"] = list(e.log.way, [&](const auto& turn) { return turn_json(e, turn); });
  json["policies"] = list(e.log.policies, [&](const auto& choice) { return policy_json(e, choice); });
  json["pipelines"] = list(e.log.pipelines, [&](const auto& choice) { return pipeline_json(e, choice); });
  json["stages"] = list(e.log.stages, stage_json);
  return json;
}

}  // namespace

std::string explanation_json(const Explanation& e) { return json_text(whole(e)); }

std::string difference_json(const ExplainedDifference& d) {
  Json json = {{"requests", d.requests}, {"elsewhere", d.elsewhere}, {"in_one_run_only", d.unpaired}};
  json["first"] = Json();
  if (d.first) {
    json["why"] = difference_reason(d.first->base, d.first->candidate);
    json["first"] = {{"base", whole(d.first->base)}, {"candidate", whole(d.first->candidate)}};
  }
  return json_text(json);
}

}  // namespace poolcast
