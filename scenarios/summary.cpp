// SPDX-License-Identifier: Apache-2.0
#include "scenarios/summary.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace poolcast {
namespace {

template <class A, class B>
std::optional<double> quotient(A numerator, B denominator) {
  if (denominator <= 0) return std::nullopt;
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

GroupSummary group(std::string name, const Cell& cell, SimTime measured) {
  GroupSummary g;
  g.name = std::move(name);
  g.outcomes = cell.outcomes;
  g.latencies = cell.latencies;
  const double seconds = to_seconds(measured).value;
  g.requests_per_s = quotient(g.outcomes.count(Outcome::kCompleted), seconds);
  g.prompt_tokens_per_s = quotient(g.outcomes.prompt_tokens, seconds);
  g.output_tokens_per_s = quotient(g.outcomes.output_tokens, seconds);
  g.goodput_requests_per_s = quotient(g.outcomes.accepted, seconds);
  g.goodput_share = quotient(g.outcomes.accepted, g.outcomes.offered);
  return g;
}

/// Judges an objective over all requests of its class. One that did not complete counts as a latency without end,
/// except for ITL, whose samples are gaps and not requests.
ObjectiveSummary judge(const Objective& objective, const Cell& cell) {
  ObjectiveSummary judged;
  judged.objective = objective;
  const Histogram& samples = cell.latencies[objective.metric];
  const std::uint64_t unfinished = cell.outcomes.offered - cell.outcomes.count(Outcome::kCompleted);
  const std::uint64_t all = samples.count() + (objective.metric == Metric::kItl ? 0 : unfinished);
  if (all == 0) return judged;
  judged.share_within = quotient(samples.count_at_most(objective.limit), all);
  const double rank = std::ceil(objective.percentile / 100 * static_cast<double>(all));
  const double finished = static_cast<double>(samples.count());
  // Half a rank less, so that rounding in the quotient cannot reach the next sample.
  if (rank <= finished) judged.achieved = samples.quantile((rank - 0.5) / finished);
  judged.met = judged.achieved && *judged.achieved <= objective.limit;
  return judged;
}

ClassSummary summarise_class(const ClassSpec& spec, const RunFacts& facts, const Cell& cell, SimTime measured) {
  ClassSummary c;
  c.group = group(spec.name, cell, measured);
  c.group.model = facts.models[spec.model.value];
  for (const Objective& objective : spec.objectives) c.objectives.push_back(judge(objective, cell));
  c.availability = quotient(c.group.outcomes.count(Outcome::kCompleted), c.group.outcomes.offered);
  if (spec.availability > 0 && c.availability) c.availability_met = *c.availability >= spec.availability;
  return c;
}

void add_departures(std::vector<Departure>& total, const std::vector<Departure>& more) {
  for (const Departure& departure : more) {
    const auto known = std::find_if(total.begin(), total.end(),
                                    [&](const Departure& d) { return std::string_view(d.what) == departure.what; });
    if (known == total.end()) {
      total.push_back(departure);
    } else {
      known->times += departure.times;
    }
  }
}

/// The sum of some replicas: counts add up, maxima are those of the fullest.
ReplicaReport sum(const std::vector<const ReplicaReport*>& replicas) {
  ReplicaReport total;
  for (const ReplicaReport* r : replicas) {
    total.requests += r->requests;
    total.completed += r->completed;
    total.steps += r->steps;
    total.leaps += r->leaps;
    total.extrapolated_steps += r->extrapolated_steps;
    total.busy += r->busy;
    total.stage_work += r->stage_work;
    total.scheduled_tokens += r->scheduled_tokens;
    total.running_steps += r->running_steps;
    total.running_max = std::max(total.running_max, r->running_max);
    total.waiting_max = std::max(total.waiting_max, r->waiting_max);
    total.kv_block_steps += r->kv_block_steps;
    total.kv_blocks_max = std::max(total.kv_blocks_max, r->kv_blocks_max);
    total.kv_blocks_usable = r->kv_blocks_usable;  // alike within a pool
    total.preemptions += r->preemptions;
    total.recomputed_tokens += r->recomputed_tokens;
    total.prefix.queries += r->prefix.queries;
    total.prefix.hits += r->prefix.hits;
    total.prefix.resumed_queries += r->prefix.resumed_queries;
    total.prefix.resumed_hits += r->prefix.resumed_hits;
    total.prefix.host_hits += r->prefix.host_hits;
    total.padded_tokens += r->padded_tokens;
    total.wasted_tokens += r->wasted_tokens;
    total.rejected_tokens += r->rejected_tokens;
    total.speculation.checks += r->speculation.checks;
    total.speculation.drafted += r->speculation.drafted;
    total.speculation.accepted += r->speculation.accepted;
    total.compiled += r->compiled;
    add_departures(total.departures, r->departures);
    total.stalled |= r->stalled;
  }
  return total;
}

ReplicaUse use(const ReplicaReport& r, double replica_nanoseconds) {
  ReplicaUse u;
  u.requests = r.requests;
  u.completed = r.completed;
  u.steps = r.steps;
  u.leaps = r.leaps;
  u.busy_share = quotient(r.busy, replica_nanoseconds).value_or(0);
  if (r.stage_work > 0) u.bubble_share = 1 - quotient(r.stage_work, r.busy).value_or(1);
  u.mean_batch = quotient(r.running_steps, r.steps);
  u.running_max = r.running_max;
  u.waiting_max = r.waiting_max;
  u.kv_use_mean = quotient(r.kv_block_steps, static_cast<double>(r.steps) * static_cast<double>(r.kv_blocks_usable));
  if (r.steps > 0) u.kv_use_max = quotient(r.kv_blocks_max, r.kv_blocks_usable);
  u.preemptions = r.preemptions;
  u.scheduled_tokens = r.scheduled_tokens;
  u.recomputed_tokens = r.recomputed_tokens;
  u.recompute_tax = quotient(r.recomputed_tokens, r.scheduled_tokens);
  // As vLLM counts: what a preempted request finds again is no hit of its prompt.
  u.prefix_query_tokens = r.prefix.queries - r.prefix.resumed_queries;
  u.prefix_hit_tokens = r.prefix.hits - r.prefix.resumed_hits;
  u.prefix_hit_rate = quotient(u.prefix_hit_tokens, u.prefix_query_tokens);
  u.host_hit_tokens = r.prefix.host_hits;
  u.padded_tokens = r.padded_tokens;
  u.wasted_tokens = r.wasted_tokens;
  u.rejected_tokens = r.rejected_tokens;
  u.drafted_tokens = r.speculation.drafted;
  u.accepted_draft_tokens = r.speculation.accepted;
  u.tokens_per_check = quotient(r.speculation.accepted + r.speculation.checks, r.speculation.checks);
  u.compiled_programs = r.compiled;
  for (const Departure& departure : r.departures) u.departures.emplace_back(departure.what, departure.times);
  if (r.padded_tokens > 0) u.padding_waste = quotient(r.padded_tokens, r.scheduled_tokens + r.padded_tokens);
  u.extrapolated_step_share = quotient(r.extrapolated_steps, r.steps);
  u.stalled = r.stalled;
  return u;
}

PoolSummary summarise_pool(PoolId id, const Report& report, const RunFacts& facts, SimTime measured) {
  PoolSummary pool;
  pool.facts = facts.pools[id.value];
  if (!report.flows.empty()) pool.flow = report.flows[id.value];
  pool.group = group(pool.facts.name, report.of_pool(id), measured);

  const double whole_run = report.first_arrival == kNever ? 0 : static_cast<double>(report.end - report.first_arrival);
  std::vector<const ReplicaReport*> replicas;
  for (const ReplicaReport& replica : report.replicas) {
    if (replica.pool == id) replicas.push_back(&replica);
  }
  const auto ranks = static_cast<std::size_t>(pool.facts.ranks);
  for (std::size_t first = 0; first < replicas.size(); first += ranks) {
    const auto begin = replicas.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<const ReplicaReport*> group(begin, begin + static_cast<std::ptrdiff_t>(ranks));
    pool.replicas.push_back(use(sum(group), whole_run * static_cast<double>(ranks)));
  }
  pool.use = use(sum(replicas), whole_run * static_cast<double>(replicas.size()));
  return pool;
}

CostReport cost_of(const RunFacts& facts, SimTime measured, const Outcomes& outcomes) {
  std::vector<ReservedCapacity> reserved;
  for (const PoolFacts& pool : facts.pools) {
    reserved.push_back({pool.name, pool.replicas, pool.devices_per_replica, pool.price_per_device});
  }
  return cost(reserved, to_seconds(measured),
              {static_cast<std::int64_t>(outcomes.accepted), outcomes.output_tokens, outcomes.accepted_output_tokens});
}

/// Tokens and images cannot be added up.
std::optional<std::string> common_unit(const std::vector<std::string>& units) {
  if (units.empty()) return "tokens";
  const bool alike = std::all_of(units.begin(), units.end(), [&](const std::string& u) { return u == units.front(); });
  return alike ? std::optional(units.front()) : std::nullopt;
}

void add_costs(Summary& summary, SimTime measured) {
  summary.unit = common_unit(summary.facts.units);
  summary.cost = cost_of(summary.facts, measured, summary.total.outcomes);
  if (!summary.unit) {
    summary.total.output_tokens_per_s.reset();
    summary.cost.per_million_output_tokens.reset();
    summary.cost.per_million_accepted_tokens.reset();
  }
  for (std::size_t i = 0; i < summary.pools.size(); ++i) {
    PoolSummary& pool = summary.pools[i];
    pool.cost = summary.cost.lines[i];
    const std::int64_t tokens = pool.group.outcomes.output_tokens;
    if (pool.cost.total && tokens > 0) {
      pool.per_million_output_tokens = *pool.cost.total * (1e6 / static_cast<double>(tokens));
    }
  }
}

void add_models(Summary& summary, const Report& report, SimTime measured) {
  std::vector<Cell> cells(summary.facts.models.size());
  for (std::size_t c = 0; c < summary.facts.classes.size(); ++c) {
    cells[summary.facts.classes[c].model.value].merge(report.of_class(ClassId(c)));
  }
  for (std::size_t m = 0; m < cells.size(); ++m) {
    summary.models.push_back(group(summary.facts.models[m], cells[m], measured));
    if (m < summary.facts.units.size()) summary.models.back().unit = summary.facts.units[m];
  }
}

void add_run(Summary& summary, const Report& report) {
  summary.measured_begin = report.measured_begin == kNever ? 0 : report.measured_begin;
  summary.measured_end = report.measured_begin == kNever ? 0 : report.measured_end;
  summary.warm_up_requests = report.warm_up_requests;
  summary.skipped_rows = report.skipped_rows;
  summary.unsent_requests = report.unsent_requests;
  summary.truncated_requests = report.truncated_requests;
  summary.has_prefix_data = report.has_prefix_data;
  summary.prefix_tokens = report.prefix_tokens;
  summary.host_loads = report.host_loads;
  summary.host_loaded_bytes = report.host_loaded_bytes;
  summary.mean_host_load_s = quotient(to_seconds(report.host_load_time).value, report.host_loads);
  summary.transfers = report.transfers;
  summary.transferred_bytes = report.transferred_bytes;
  summary.mean_transfer_s = quotient(to_seconds(report.transfer_time).value, report.transfers);
  summary.ideal_hit_rate = quotient(report.ideal_prefix_hits, report.prefix_tokens);
  summary.stationary = report.stationary;
  summary.backlog_growth_per_s = report.backlog_growth_per_s;
  summary.windows = report.windows;
  summary.steps = report.steps;
  summary.leaps = report.leaps;
  summary.events = report.events;

  std::uint64_t steps = 0;
  std::uint64_t extrapolated = 0;
  for (const ReplicaReport& replica : report.replicas) {
    steps += replica.steps;
    extrapolated += replica.extrapolated_steps;
    summary.stalled_replicas += replica.stalled;
  }
  summary.extrapolated_step_share = quotient(extrapolated, steps);
}

}  // namespace

Summary summarise(const Report& report, const RunFacts& facts) {
  Summary summary;
  summary.facts = facts;
  add_run(summary, report);
  const SimTime measured = summary.measured_end - summary.measured_begin;
  summary.total = group("all", report.total(), measured);
  for (std::size_t c = 0; c < facts.classes.size(); ++c) {
    summary.classes.push_back(summarise_class(facts.classes[c], facts, report.of_class(ClassId(c)), measured));
  }
  add_models(summary, report, measured);
  for (std::size_t p = 0; p < facts.pools.size(); ++p) {
    summary.pools.push_back(summarise_pool(PoolId(p), report, facts, measured));
  }
  for (std::size_t m = 0; m < report.moves.size(); ++m) {
    summary.moves.push_back({facts.moves[m], report.moves[m]});
  }
  summary.gates = report.gates;
  summary.gateway = {facts.gateway, report.gateway, {}};
  add_costs(summary, measured);
  add_mirror_costs(summary);
  summary.notes = notes_of(summary, report.notes);
  return summary;
}

}  // namespace poolcast
