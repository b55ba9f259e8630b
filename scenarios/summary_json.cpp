// SPDX-License-Identifier: Apache-2.0
#include "scenarios/summary_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "scenarios/engines/engine_kind.h"
#include "scenarios/gate_summary.h"
#include "scenarios/json_text.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

/// Seconds with the nine decimals of the clock: the division rounds correctly, where a product with 1e-9 would not.
double seconds(SimTime t) { return static_cast<double>(t) / 1e9; }

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <class Unit>
Json or_null(const std::optional<Quantity<Unit>>& value) {
  return value ? Json(value->value) : Json();
}

Json requests(const Outcomes& o) {
  Json json = {{"offered", o.offered},
               {"completed", o.count(Outcome::kCompleted)},
               {"accepted", o.accepted},
               {"rejected", o.count(Outcome::kRejected)},
               {"failed", o.count(Outcome::kFailed)},
               {"timed_out", o.count(Outcome::kTimedOut)},
               {"cancelled", o.count(Outcome::kCancelled)}};
  Json reasons = Json::object();
  for (int i = 1; i < kReasons; ++i) {
    if (const std::uint64_t count = o.reasons[static_cast<std::size_t>(i)]; count > 0) {
      reasons[name(static_cast<Reason>(i))] = count;
    }
  }
  json["reasons"] = reasons;
  json["prompt_tokens"] = o.prompt_tokens;
  json["output_tokens"] = o.output_tokens;
  json["accepted_output_tokens"] = o.accepted_output_tokens;
  return json;
}

Json latency(const Histogram& h) {
  Json json = {{"mean", nullptr}, {"p50", nullptr}, {"p90", nullptr},
               {"p95", nullptr},  {"p99", nullptr}, {"max", nullptr}};
  if (h.count() > 0) {
    json = {{"mean", seconds(std::llround(h.mean()))}, {"p50", seconds(h.quantile(0.50))},
            {"p90", seconds(h.quantile(0.90))},        {"p95", seconds(h.quantile(0.95))},
            {"p99", seconds(h.quantile(0.99))},        {"max", seconds(h.max())}};
  }
  json["count"] = h.count();
  json["relative_error"] = Histogram::kRelativeError;
  return json;
}

Json latencies(const Latencies& all) {
  Json json;
  for (int i = 0; i < kMetrics; ++i) {
    const auto metric = static_cast<Metric>(i);
    const bool of_capped_clients = metric == Metric::kTtftFromSent || metric == Metric::kE2eFromSent;
    if (of_capped_clients && all[metric].count() == 0) continue;
    json[std::string(name(metric)) + "_s"] = latency(all[metric]);
  }
  return json;
}

Json throughput(const GroupSummary& g) {
  return {{"requests_per_s", or_null(g.requests_per_s)},
          {"output_tokens_per_s", or_null(g.output_tokens_per_s)},
          {"prompt_tokens_per_s", or_null(g.prompt_tokens_per_s)},
          {"goodput_requests_per_s", or_null(g.goodput_requests_per_s)},
          {"goodput_share", or_null(g.goodput_share)}};
}

/// The members that classes, models and pools have in common.
void add_group(Json& json, const GroupSummary& g) {
  json["requests"] = requests(g.outcomes);
  json["latency"] = latencies(g.latencies);
  json["throughput"] = throughput(g);
}

/// A figure per million tokens exists only where tokens are what comes out.
Json tokens_only(const std::optional<std::string>& unit, const std::optional<Dollars>& value) {
  return unit == "tokens" ? or_null(value) : Json();
}

Json cost_line(const PoolSummary& pool) {
  std::optional<double> per_hour;
  if (pool.cost.price_per_device) {
    per_hour = (*pool.cost.price_per_device * static_cast<double>(pool.cost.devices)).value;
  }
  return {{"pool", pool.facts.name},
          {"devices", pool.cost.devices},
          {"per_device_hour_usd", or_null(pool.cost.price_per_device)},
          {"per_hour_usd", or_null(per_hour)},
          {"total_usd", or_null(pool.cost.total)},
          {"unit", pool.facts.unit},
          {"per_million_output_units_usd", or_null(pool.per_million_output_tokens)},
          {"per_million_output_tokens_usd", tokens_only(pool.facts.unit, pool.per_million_output_tokens)}};
}

Json cost(const Summary& s) {
  Json lines = Json::array();
  for (const PoolSummary& pool : s.pools) lines.push_back(cost_line(pool));
  return {{"total_usd", or_null(s.cost.total)},
          {"per_hour_usd", or_null(s.cost.per_hour)},
          {"per_accepted_output_usd", or_null(s.cost.per_accepted_output)},
          {"unit", or_null(s.unit)},
          {"per_million_accepted_units_usd", or_null(s.cost.per_million_accepted_tokens)},
          {"per_million_output_units_usd", or_null(s.cost.per_million_output_tokens)},
          {"per_million_accepted_tokens_usd", tokens_only(s.unit, s.cost.per_million_accepted_tokens)},
          {"per_million_output_tokens_usd", tokens_only(s.unit, s.cost.per_million_output_tokens)},
          {"lines", lines}};
}

Json percentile(double value) {
  return value == std::floor(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json objective(const ObjectiveSummary& o) {
  return {{"metric", name(o.objective.metric)},      {"percentile", percentile(o.objective.percentile)},
          {"limit_s", seconds(o.objective.limit)},   {"achieved_s", o.achieved ? Json(seconds(*o.achieved)) : Json()},
          {"share_within", or_null(o.share_within)}, {"met", or_null(o.met)}};
}

Json class_json(const ClassSummary& c, const ClassSpec& spec) {
  Json json = {{"name", c.group.name}, {"model", c.group.model}, {"objectives", Json::array()}};
  if (spec.availability > 0) {
    json["availability"] = {
        {"promised", spec.availability}, {"achieved", or_null(c.availability)}, {"met", or_null(c.availability_met)}};
  }
  for (const ObjectiveSummary& o : c.objectives) json["objectives"].push_back(objective(o));
  add_group(json, c.group);
  return json;
}

Json model_json(const GroupSummary& model) {
  Json json;
  json["name"] = model.name;
  json["unit"] = model.unit;
  add_group(json, model);
  return json;
}

Json use_json(const ReplicaUse& u) {
  Json json = {{"requests", u.requests},
               {"completed", u.completed},
               {"busy_share", u.busy_share},
               {"mean_batch", or_null(u.mean_batch)},
               {"max_running", u.running_max},
               {"max_waiting", u.waiting_max},
               {"kv_use_mean", or_null(u.kv_use_mean)},
               {"kv_use_max", or_null(u.kv_use_max)},
               {"preemptions", u.preemptions},
               {"scheduled_tokens", u.scheduled_tokens},
               {"recomputed_tokens", u.recomputed_tokens},
               {"recompute_tax", or_null(u.recompute_tax)},
               {"prefix_query_tokens", u.prefix_query_tokens},
               {"prefix_hit_tokens", u.prefix_hit_tokens},
               {"prefix_hit_rate", or_null(u.prefix_hit_rate)},
               {"padded_tokens", u.padded_tokens},
               {"padding_waste", or_null(u.padding_waste)},
               {"host_hit_tokens", u.host_hit_tokens},
               {"wasted_tokens", u.wasted_tokens},
               {"drafted_tokens", u.drafted_tokens},
               {"accepted_draft_tokens", u.accepted_draft_tokens},
               {"rejected_tokens", u.rejected_tokens},
               {"tokens_per_check", or_null(u.tokens_per_check)},
               {"compiled_programs", u.compiled_programs},
               {"steps", u.steps},
               {"leaps", u.leaps},
               {"extrapolated_step_share", or_null(u.extrapolated_step_share)},
               {"stalled", u.stalled}};
  if (u.bubble_share) json["pipeline_bubble_share"] = *u.bubble_share;
  return json;
}

struct FigureOf {
  const ReplicaUse& use;
  template <class T>
  Json operator()(T ReplicaUse::*figure) const {
    return use.*figure;
  }
  Json operator()(std::optional<double> ReplicaUse::*figure) const { return or_null(use.*figure); }
};

/// Native telemetry keeps the names of the stack that it stands for: counts at the end of the run, and of the signals
/// that routers see the highest value of any replica.
Json native(const PoolSummary& pool) {
  Json json = Json::object();
  const Telemetry* const telemetry = pool.facts.telemetry;
  if (telemetry == nullptr) return json;
  const ReplicaUse& u = pool.use;
  for (const NativeFigure& figure : telemetry->native)
    json[std::string(figure.name)] = std::visit(FigureOf{u}, figure.figure);
  const auto signal = [&](std::string_view name, const Json& most) {
    if (!name.empty()) json[std::string(name)] = {{"max", most}};
  };
  signal(telemetry->signals.waiting, u.waiting_max);
  signal(telemetry->signals.running, u.running_max);
  signal(telemetry->signals.kv_use, or_null(u.kv_use_max));
  return json;
}

Json flow_json(const FlowReport& flow) {
  Json mean;
  if (flow.dispatched > 0) mean = seconds(flow.wait) / static_cast<double>(flow.dispatched);
  return {{"queued", flow.came},           {"dispatched", flow.dispatched},
          {"found_full", flow.found_full}, {"expired", flow.expired},
          {"given_up", flow.given_up},     {"max_length", flow.longest},
          {"mean_wait_s", mean},           {"max_wait_s", seconds(flow.longest_wait)}};
}

Json pool_json(const PoolSummary& pool, Json gates) {
  Json json = {{"name", pool.facts.name},
               {"model", pool.facts.model},
               {"accelerator", pool.facts.accelerator},
               {"engine", pool.facts.engine},
               {"replicas", pool.facts.replicas},
               {"devices", pool.facts.replicas * pool.facts.devices_per_replica},
               {"prefix_hit_rate", or_null(pool.use.prefix_hit_rate)},
               {"gates", std::move(gates)},
               {"native", native(pool)}};
  add_group(json, pool.group);
  json["use"] = use_json(pool.use);
  json["by_replica"] = Json::array();
  for (const ReplicaUse& replica : pool.replicas) json["by_replica"].push_back(use_json(replica));
  if (pool.flow.on) json["flow_control"] = flow_json(pool.flow);
  return json;
}

Json windows(const std::vector<Window>& all) {
  Json json = Json::array();
  for (const Window& w : all) {
    json.push_back({{"begin_s", seconds(w.begin)},
                    {"end_s", seconds(w.end)},
                    {"arrived", w.arrived},
                    {"ended", w.ended},
                    {"mean_in_system", w.mean_in_system}});
  }
  return json;
}

void add_measured(Json& curve, const CurveFacts& facts) {
  curve["digest"] = facts.digest;
  curve["errors"] = Json::array();
  for (const TermError& e : facts.errors) {
    curve["errors"].push_back(
        {{"term", e.term}, {"regime", e.regime}, {"shapes", e.shapes}, {"median", e.median}, {"p95", e.p95}});
  }
}

Json validity(const Summary& s) {
  Json curves = Json::array();
  for (const PoolSummary& pool : s.pools) {
    Json curve = {{"pool", pool.facts.name},
                  {"provenance", pool.facts.curve},
                  {"extrapolated_step_share", or_null(pool.use.extrapolated_step_share)}};
    if (pool.facts.measured) add_measured(curve, *pool.facts.measured);
    curves.push_back(std::move(curve));
  }
  Json notes = Json::array();
  for (const Note& note : s.notes) notes.push_back(note.text);
  return {{"stationary", s.stationary},
          {"extrapolated_step_share", or_null(s.extrapolated_step_share)},
          {"curves", curves},
          {"notes", notes},
          {"backlog_growth_per_s", s.backlog_growth_per_s},
          {"prefix_data", s.has_prefix_data},
          {"ideal_prefix_hit_rate", or_null(s.ideal_hit_rate)},
          {"skipped_rows", s.skipped_rows},
          {"unsent_requests", s.unsent_requests},
          {"truncated_requests", s.truncated_requests},
          {"stalled_replicas", s.stalled_replicas},
          {"windows", windows(s.windows)}};
}

}  // namespace

std::string summary_json(const Summary& s) {
  Json json = {{"poolcast", s.facts.version},
               {"schema", 1},
               {"seed", s.facts.seed},
               {"scenario_digest", s.facts.scenario_digest},
               {"measured",
                {{"begin_s", seconds(s.measured_begin)},
                 {"end_s", seconds(s.measured_end)},
                 {"duration_s", seconds(s.measured_end - s.measured_begin)},
                 {"warm_up_requests", s.warm_up_requests}}},
               {"requests", requests(s.total.outcomes)},
               {"latency", latencies(s.total.latencies)},
               {"throughput", throughput(s.total)},
               {"cost", cost(s)},
               {"classes", Json::array()},
               {"models", Json::array()},
               {"pools", Json::array()}};
  for (std::size_t c = 0; c < s.classes.size(); ++c) {
    json["classes"].push_back(class_json(s.classes[c], s.facts.classes[c]));
  }
  for (const GroupSummary& model : s.models) json["models"].push_back(model_json(model));
  for (std::size_t p = 0; p < s.pools.size(); ++p) json["pools"].push_back(pool_json(s.pools[p], gates_json(s, p)));
  if (Json taken = compatibility_json(s); !taken.empty()) json["compatibility"] = std::move(taken);
  if (!s.moves.empty()) json["moves"] = Json::array();
  for (const MoveSummary& move : s.moves) json["moves"].push_back(move_json(move));
  if (Json gateway = gateway_json(s); !gateway.empty()) json["gateway"] = std::move(gateway);
  if (s.host_loads > 0) {
    json["host_loads"] = {
        {"count", s.host_loads}, {"bytes", s.host_loaded_bytes}, {"mean_s", or_null(s.mean_host_load_s)}};
  }
  if (s.transfers > 0) {
    json["transfers"] = {
        {"count", s.transfers}, {"bytes", s.transferred_bytes}, {"mean_s", or_null(s.mean_transfer_s)}};
  }
  json["validity"] = validity(s);
  json["engine"] = {{"steps", s.steps}, {"leaps", s.leaps}, {"events", s.events}, {"fidelity", s.facts.fidelity}};
  return json_text(json);
}

}  // namespace poolcast
