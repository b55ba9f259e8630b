// SPDX-License-Identifier: Apache-2.0
#include "sim/moves.h"

#include <algorithm>

#include "sim/random.h"

namespace poolcast {
namespace {

using Kind = MoveStepReport::Kind;
using End = MoveStepReport::End;
using Verdict = GateResult::Verdict;

bool has(const std::vector<GateResult>& results, Verdict verdict) {
  return std::any_of(results.begin(), results.end(), [&](const GateResult& r) { return r.verdict == verdict; });
}

/// The results that a roll-back is for.
std::vector<GateResult> causes(const std::vector<GateResult>& results) {
  std::vector<GateResult> found;
  std::copy_if(results.begin(), results.end(), std::back_inserter(found),
               [](const GateResult& r) { return r.verdict != Verdict::kPassed; });
  return found;
}

void warm(Warmth& warmth, const RequestRecord& r) {
  warmth.prompt_tokens += r.prompt_tokens;
  warmth.cached_tokens += r.cached_tokens;
  warmth.ideal_tokens += r.ideal_tokens;
}

std::optional<double> seconds(std::optional<SimTime> time) {
  return time && *time != kNever ? std::optional(to_seconds(*time).value) : std::nullopt;
}

}  // namespace

Moves::Moves(const SimulationSpec& spec, const RequestTable& table)
    : specs_(spec.moves), table_(table), seed_(spec.seed) {
  for (const SourceSpec& source : spec.sources) capped_clients_ |= source.max_concurrency != INT64_MAX;
  for (const MoveSpec& move : specs_) {
    State& state = states_.emplace_back();
    state.stream = "move/" + spec.pools[move.from.value].name + "/" + spec.pools[move.to.value].name;
    state.reference.resize(move.gates.size() + move.abort.size());
    begin_step(state, move, Kind::kBefore, 0, move.start, 0);
  }
}

// ---------------------------------------------------------------- requests

Moves::Turn Moves::turn(const RequestRecord& request, PoolId pool) const {
  for (std::uint32_t m = 0; m < specs_.size(); ++m) {
    const MoveSpec& spec = specs_[m];
    if (spec.from != pool || (spec.cls.valid() && spec.cls != request.cls)) continue;
    const double share = states_[m].step().share;
    return {m, share > 0 && place(states_[m], spec, request) < share, Reason::kNone};
  }
  return {};
}

/// In [0, 1): the same in every run with this seed, whatever else happens.
double Moves::place(const State& state, const MoveSpec& spec, const RequestRecord& request) const {
  const bool by_session = spec.sticky == Sticky::kSession && request.session != UINT64_MAX;
  const std::uint64_t who = content_id(2 * std::uint64_t{request.source.value} + (by_session ? 1 : 0),
                                       by_session ? request.session : request.row);
  return RandomStream(seed_, state.stream, who).uniform();
}

void Moves::sent(RequestId id, const Turn& turn) {
  State& state = states_[turn.move];
  MoveStepReport& step = state.step();
  step.chosen += turn.chosen;
  if (turn.not_taken != Reason::kNone) {
    if (turn.chosen) {
      ++step.not_taken;
      ++step.reasons[static_cast<std::size_t>(turn.not_taken)];
    }
    return;  // neither moved nor like those that did
  }
  if (tags_.size() <= id.value) tags_.resize(id.value + std::size_t{1});
  tags_[id.value] = {turn.move, static_cast<std::uint32_t>(state.report.steps.size() - 1), turn.chosen};
  (turn.chosen ? state.moved : state.stayed).sent(id);
}

void Moves::ended(RequestId id, const RequestRecord& record) {
  if (id.value >= tags_.size() || tags_[id.value].move == UINT32_MAX) return;
  const Tag tag = tags_[id.value];
  tags_[id.value] = {};
  State& state = states_[tag.move];
  MoveStepReport& step = state.report.steps[tag.step];
  if (tag.step + 1 == state.report.steps.size()) (tag.moved ? state.moved : state.stayed).ended(id, record);
  MoveArm& arm = tag.moved ? step.moved : step.stayed;
  arm.cell.add(record, capped_clients_);
  if (record.at.first_scheduled == kNever) return;
  warm(arm.all, record);
  if (record.at.intended < later(step.begin, specs_[tag.move].rewarm)) warm(arm.first, record);
}

// ---------------------------------------------------------------- decisions

SimTime Moves::next() const {
  SimTime soonest = kNever;
  for (const State& state : states_) soonest = std::min({soonest, state.check, state.step_end});
  return soonest;
}

void Moves::decide(SimTime now) {
  for (std::size_t m = 0; m < states_.size(); ++m) {
    if (std::min(states_[m].check, states_[m].step_end) == now) decide(states_[m], specs_[m], now);
  }
}

void Moves::decide(State& state, const MoveSpec& spec, SimTime now) {
  if (state.step().kind == Kind::kBack) {
    ++state.at;
    end_step(state, End::kNoGate, now);
    return begin_back(state, spec, now);
  }
  if (state.step().kind == Kind::kBefore) {
    if (spec.qualified) return advance(state, spec, now);
    state.report.outcome = MoveReport::Outcome::kNotQualified;
    state.report.decided = now;
    state.step_end = kNever;
    return;
  }
  const std::vector<GateResult> dangers = judge(state, spec, true, now);
  if (has(dangers, Verdict::kFailed)) {
    for (const GateResult& r : dangers) {
      if (r.verdict == Verdict::kFailed) state.step().gates.push_back(r);
    }
    return roll_back(state, spec, End::kAborted, now);
  }
  if (now < state.step_end) {
    state.check = later(now, spec.every);
    return;
  }
  state.step().gates = judge(state, spec, false, now);
  if (!causes(state.step().gates).empty()) return roll_back(state, spec, End::kFailed, now);
  advance(state, spec, now);
}

/// To the next share; after the last one it stays.
void Moves::advance(State& state, const MoveSpec& spec, SimTime now) {
  const bool before = state.step().kind == Kind::kBefore;
  if (!before) ++state.at;
  keep_references(state, spec, now);
  end_step(state, before ? End::kNoGate : End::kPassed, now);
  if (state.at < spec.steps.size()) {
    const MoveStep& step = spec.steps[state.at];
    return begin_step(state, spec, Kind::kForward, step.share, step.length, now);
  }
  state.report.outcome = MoveReport::Outcome::kCompleted;
  state.report.decided = now;
  begin_step(state, spec, Kind::kHeld, spec.steps.back().share, kNever, now);
}

void Moves::roll_back(State& state, const MoveSpec& spec, End end, SimTime now) {
  state.report.outcome = MoveReport::Outcome::kRolledBack;
  state.report.decided = now;
  state.report.causes = causes(state.step().gates);
  const double share = state.step().share;
  std::copy_if(spec.roll_back.begin(), spec.roll_back.end(), std::back_inserter(state.back),
               [&](const MoveStep& step) { return step.share < share; });
  state.at = 0;
  end_step(state, end, now);
  begin_back(state, spec, now);
}

void Moves::begin_back(State& state, const MoveSpec& spec, SimTime now) {
  const bool last = state.at + 1 == state.back.size();
  begin_step(state, spec, Kind::kBack, state.back[state.at].share, last ? kNever : state.back[state.at].length, now);
}

void Moves::begin_step(State& state, const MoveSpec& spec, Kind kind, double share, SimTime length, SimTime now) {
  MoveStepReport& step = state.report.steps.emplace_back();
  step.kind = kind;
  step.share = share;
  step.begin = now;
  state.step_end = length == kNever ? kNever : later(now, length);
  const bool checked = kind == Kind::kForward && !spec.abort.empty() && spec.every < length;
  state.check = checked ? later(now, spec.every) : kNever;
}

void Moves::end_step(State& state, End end, SimTime now) {
  state.step().ended = end;
  state.step().end = now;
  state.moved.begin();
  state.stayed.begin();
  state.check = kNever;
}

// ---------------------------------------------------------------- gates

std::vector<GateResult> Moves::judge(State& state, const MoveSpec& spec, bool abort, SimTime now) {
  keep_references(state, spec, now);
  const auto& gates = abort ? spec.abort : spec.gates;
  const std::size_t first = abort ? spec.gates.size() : 0;
  std::vector<GateResult> results;
  for (std::size_t g = 0; g < gates.size(); ++g) {
    results.push_back(judge(gates[g], state.reference[first + g], state, spec, now));
  }
  return results;
}

/// What a relative gate is compared with: those that stayed in this step, or in the last one in which enough did.
void Moves::keep_references(State& state, const MoveSpec& spec, SimTime now) {
  if (state.stayed.requests() < spec.min_requests) return;
  for (std::size_t g = 0; g < state.reference.size(); ++g) {
    const MoveGate& gate = g < spec.gates.size() ? spec.gates[g] : spec.abort[g - spec.gates.size()];
    if (!gate.relative) continue;
    state.reference[g] = seconds(state.stayed.percentile(gate.metric, gate.percentile, now, table_));
  }
}

GateResult Moves::judge(const MoveGate& gate, const std::optional<double>& reference, const State& state,
                        const MoveSpec& spec, SimTime now) const {
  GateResult result;
  result.gate = gate;
  result.limit = gate.limit;
  if (gate.relative) result.limit = reference ? std::optional(*reference * gate.limit) : std::nullopt;
  bool met = false;
  if (gate.what == MoveGate::What::kEligible) {
    result.requests = state.step().chosen;
    if (result.requests == 0) return result;
    result.value = 1 - static_cast<double>(state.step().not_taken) / static_cast<double>(result.requests);
    met = *result.value >= gate.limit;
  } else if (gate.what == MoveGate::What::kErrorRate) {
    result.requests = state.moved.ended_count();
    if (result.requests == 0) return result;
    result.value = static_cast<double>(state.moved.errors()) / static_cast<double>(result.requests);
    met = *result.value <= gate.limit;
  } else {
    result.requests = state.moved.requests();
    result.value = seconds(state.moved.percentile(gate.metric, gate.percentile, now, table_));
    met = result.value && result.limit && *result.value <= *result.limit;
  }
  if (result.requests < spec.min_requests || !result.limit) return result;
  result.verdict = met ? Verdict::kPassed : Verdict::kFailed;
  return result;
}

std::vector<MoveReport> Moves::take(SimTime now) {
  std::vector<MoveReport> reports;
  for (State& state : states_) {
    state.step().end = now;
    reports.push_back(std::move(state.report));
  }
  return reports;
}

}  // namespace poolcast
