// SPDX-License-Identifier: Apache-2.0
#include "scenarios/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/resolve.h"

namespace poolcast {
namespace {

using Samples = std::vector<RunSample>;  // by replication

struct Runs {
  Samples base, candidate;
};

std::optional<double> value_in(const RunSample& sample, std::size_t group, Figure figure) {
  return sample.groups[group].value[static_cast<std::size_t>(figure)];
}

Difference difference(const Runs& runs, std::size_t group, Figure figure, double confidence) {
  Difference d;
  d.figure = figure;
  std::vector<double> base, candidate, differences;
  for (std::size_t k = 0; k < runs.base.size(); ++k) {
    const auto b = value_in(runs.base[k], group, figure), c = value_in(runs.candidate[k], group, figure);
    d.zero &= b == c;
    if (!b || !c) continue;
    d.exists = true;
    const bool b_ends = std::isfinite(*b), c_ends = std::isfinite(*c);
    d.base_endless += !b_ends && c_ends;
    d.candidate_endless += b_ends && !c_ends;
    if (!b_ends || !c_ends) continue;
    base.push_back(*b);
    candidate.push_back(*c);
    differences.push_back(*c - *b);
  }
  d.base = mean_interval(base, confidence);
  d.candidate = mean_interval(candidate, confidence);
  d.difference = mean_interval(differences, confidence);
  return d;
}

std::vector<GroupDifferences> differences(const Runs& runs, const std::vector<std::string>& names, double confidence) {
  std::vector<GroupDifferences> groups;
  for (std::size_t g = 0; g < names.size(); ++g) {
    GroupDifferences group;
    group.name = names[g];
    for (const RunSample& sample : runs.base) group.requests += sample.groups[g].requests;
    if (g > 0 && group.requests == 0) continue;
    for (int f = 0; f < kFigures; ++f) {
      const Difference d = difference(runs, g, static_cast<Figure>(f), confidence);
      if (d.exists || !d.zero) group.figures.push_back(d);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

/// The difference with its sign turned so that more is worse.
MeanInterval worsening(const Difference& d) {
  MeanInterval m = d.difference;
  if (!more_is_better(d.figure)) return m;
  m.mean = -m.mean;
  m.low = -d.difference.high;
  m.high = -d.difference.low;
  return m;
}

/// A replication without an end cannot be averaged: with one on the candidate's side only there is no pass, and with
/// most of them it fails.
GateOutcome judge(const Margin& margin, const GroupDifferences& all, double confidence) {
  GateOutcome gate;
  gate.margin = margin;
  const auto found = std::find_if(all.figures.begin(), all.figures.end(),
                                  [&](const Difference& d) { return d.figure == margin.figure && d.exists; });
  if (found == all.figures.end()) return gate;
  const Difference& d = *found;
  gate.verdict = GateVerdict::kUndecided;
  if (d.candidate_endless > 0 || d.base_endless > 0) {
    const std::int64_t pairs = d.difference.count + d.candidate_endless + d.base_endless;
    if (2 * d.candidate_endless > pairs) gate.verdict = GateVerdict::kFail;
    return gate;
  }
  const double most = is_share(d.figure) ? margin.most : margin.most * d.base.mean;
  const MeanInterval worse = worsening(d);
  if (d.difference.count == 0) {  // both without end wherever they exist
    if (d.zero) gate.verdict = GateVerdict::kPass;
  } else if (!worse.has_interval()) {
    gate.replications_needed = 2;
  } else if (worse.high <= most) {
    gate.verdict = GateVerdict::kPass;
  } else if (worse.low > most) {
    gate.verdict = GateVerdict::kFail;
  } else {
    gate.replications_needed = count_to_decide(worse, most, confidence);
    gate.mean_beyond = worse.mean > most;
  }
  return gate;
}

std::vector<MoveRehearsal> rehearsals(const Samples& samples, const std::vector<MoveFacts>& facts) {
  std::vector<MoveRehearsal> moves;
  for (std::size_t m = 0; m < facts.size(); ++m) {
    MoveRehearsal& move = moves.emplace_back();
    move.first = {facts[m], samples[0].moves[m]};
    for (const RunSample& sample : samples) {
      const MoveReport::Outcome outcome = sample.moves[m].outcome;
      const bool back = outcome == MoveReport::Outcome::kRolledBack || outcome == MoveReport::Outcome::kNotQualified;
      move.completed += outcome == MoveReport::Outcome::kCompleted;
      move.rolled_back += back;
      move.other += outcome == MoveReport::Outcome::kRunEnded;
    }
  }
  return moves;
}

bool all_equal(const Comparison& c) {
  return c.same_world && std::all_of(c.groups.begin(), c.groups.end(), [](const GroupDifferences& group) {
           return std::all_of(group.figures.begin(), group.figures.end(), [](const Difference& d) { return d.zero; });
         });
}

bool any(const std::vector<GateOutcome>& gates, GateVerdict verdict) {
  return std::any_of(gates.begin(), gates.end(), [&](const GateOutcome& gate) { return gate.verdict == verdict; });
}

Verdict verdict(const Comparison& c) {
  const auto backed = [&](const MoveRehearsal& m) { return 2 * m.rolled_back >= c.replications; };
  const auto unfinished = [&](const MoveRehearsal& m) { return m.completed < c.replications; };
  if (std::any_of(c.moves.begin(), c.moves.end(), backed)) return Verdict::kNoGo;
  if (all_equal(c)) return Verdict::kNoDifference;
  if (any(c.gates, GateVerdict::kFail)) return Verdict::kNoGo;
  if (std::any_of(c.moves.begin(), c.moves.end(), unfinished)) return Verdict::kNotEnoughEvidence;
  const auto passes = [](const GateOutcome& gate) { return gate.verdict == GateVerdict::kPass; };
  if (c.gates.empty() || !std::all_of(c.gates.begin(), c.gates.end(), passes)) return Verdict::kNotEnoughEvidence;
  return Verdict::kGo;
}

std::vector<std::string> notes(const Scenario& base, const Scenario& candidate, const Comparison& c, const Runs& runs) {
  std::vector<std::string> notes;
  if (!c.same_world) {
    notes.emplace_back(
        "the two did not meet the same requests at the same instants: their loads differ, or users "
        "waited for answers, so that differences hold more chance");
  }
  if (base.seed != candidate.seed) notes.emplace_back("the candidate's seed is not used: both run with the base's");
  const auto same = [&](const RunSample& sample) { return sample.world == runs.base[0].world; };
  if (c.replications > 1 && std::all_of(runs.base.begin(), runs.base.end(), same)) {
    notes.emplace_back(
        "every replication has the same requests at the same instants, as a trace has: the intervals "
        "tell what chance in routing does, and nothing of other days");
  }
  for (const GateOutcome& gate : c.gates) {
    if (gate.verdict != GateVerdict::kNotJudged) continue;
    notes.push_back(fmt::format(
        "{} is not judged: {}", title(gate.margin.figure),
        gate.margin.figure == Figure::kCost ? "a pool has no price, or nothing was accepted" : "there is no sample"));
  }
  return notes;
}

bool same_worlds(const Runs& runs) {
  for (std::size_t k = 0; k < runs.base.size(); ++k) {
    if (runs.base[k].world != runs.candidate[k].world) return false;
  }
  return true;
}

}  // namespace

std::vector<Margin> default_margins() {
  return {{Figure::kTtftP99, 0.02}, {Figure::kE2eP99, 0.02}, {Figure::kGoodput, 0.005}, {Figure::kCost, 0.02}};
}

std::optional<double> Difference::relative(double end) const {
  if (base.count == 0 || base.mean == 0) return std::nullopt;
  return end / base.mean;
}

std::optional<std::int64_t> replications_to_decide(const std::vector<GateOutcome>& gates) {
  std::optional<std::int64_t> least, most;
  for (const GateOutcome& gate : gates) {
    if (!gate.mean_beyond || !gate.replications_needed) continue;
    least = std::min(least.value_or(*gate.replications_needed), *gate.replications_needed);
  }
  if (least) return least;
  for (const GateOutcome& gate : gates) {
    if (gate.verdict == GateVerdict::kNotJudged) return std::nullopt;
    if (gate.verdict != GateVerdict::kUndecided) continue;
    if (!gate.replications_needed) return std::nullopt;
    most = std::max(most.value_or(0), *gate.replications_needed);
  }
  return most;
}

const char* name(Verdict verdict) {
  constexpr const char* kNames[] = {"go", "no-go", "not enough evidence", "no difference"};
  return kNames[static_cast<int>(verdict)];
}

Comparison compare(const Scenario& base, const Scenario& candidate, const CompareOptions& options) {
  const RunFacts base_facts = build(base).facts, facts = build(candidate).facts;
  const std::vector<std::string> names = group_names(base_facts);
  if (names != group_names(facts)) {
    throw ConfigError(fmt::format("{}: its models and classes are not those of {}, so nothing can be compared",
                                  candidate.name, base.name));
  }
  std::vector<Samples> samples =
      sample_replications({&base, &candidate}, options.replications, options.threads, options.progress);
  const Runs runs{std::move(samples[0]), std::move(samples[1])};
  Comparison c;
  c.version = facts.version;
  c.base_name = base_facts.scenario;
  c.candidate_name = facts.scenario;
  c.base_digest = base_facts.scenario_digest;
  c.candidate_digest = facts.scenario_digest;
  c.seed = base.seed;
  c.replications = options.replications;
  c.confidence = options.confidence;
  c.same_world = same_worlds(runs);
  c.groups = differences(runs, names, options.confidence);
  for (const Margin& margin : options.margins) c.gates.push_back(judge(margin, c.groups[0], options.confidence));
  c.moves = rehearsals(runs.candidate, facts.moves);
  c.notes = notes(base, candidate, c, runs);
  c.verdict = verdict(c);
  if (c.verdict == Verdict::kNotEnoughEvidence) c.replications_needed = replications_to_decide(c.gates);
  c.candidate_runs = runs.candidate;
  return c;
}

}  // namespace poolcast
