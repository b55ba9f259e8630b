// SPDX-License-Identifier: Apache-2.0
#include "scenarios/explain_way.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "scenarios/human.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

using Turn = DecisionLog::Turn;
using Policy = DecisionLog::PolicyChoice;
using Pipeline = DecisionLog::PipelineChoice;

std::string pool_name(const Explanation& e, PoolId pool) {
  return pool.valid() ? e.facts.pools[pool.value].name : "no pool";
}

std::string turn_text(const Explanation& e, const Turn& turn) {
  const std::string pool = pool_name(e, turn.pool), why = name(turn.refused);
  const bool refused = turn.refused != Reason::kNone;
  const std::string model = turn.model != e.request.model && turn.why != Turn::Why::kMirror
                                ? fmt::format("as {}: ", e.facts.models[turn.model.value])
                                : "";
  switch (turn.why) {
    case Turn::Why::kPolicy:
    case Turn::Why::kSession:
    case Turn::Why::kCompatibility:
      if (!turn.pool.valid()) return fmt::format("{}no pool can be chosen ({})", model, why);
      if (turn.why == Turn::Why::kSession) return fmt::format("{}its session belongs to {}", model, pool);
      if (turn.why == Turn::Why::kPolicy) return fmt::format("{}the policy chooses {}", model, pool);
      return fmt::format("{}no other may serve it: {}, the compatibility pool", model, pool);
    case Turn::Why::kQuota:
      return model + "it is beyond a quota";
    case Turn::Why::kMove:
      return refused ? fmt::format("a move would send it on to {}, which does not take it ({})", pool, why)
                     : fmt::format("a move sends it on to {}", pool);
    case Turn::Why::kRefusal:
      return fmt::format("{}{} does not take it ({})", model, pool, why);
    case Turn::Why::kFallback:
      return refused ? fmt::format("{}nor does the fallback {} ({})", model, pool, why)
                     : fmt::format("{}the fallback {} does", model, pool);
    case Turn::Why::kMirror:
      return refused ? fmt::format("no copy goes to {} ({})", pool, why) : fmt::format("a copy goes to {}", pool);
  }
  return "";
}

// ---------------------------------------------------------------- two runs

std::string score(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : fmt::format("{}", value);
}

/// The last turn that sent it somewhere, or the last of all.
const Turn* decisive(const Explanation& e) {
  const Turn* last = nullptr;
  for (const Turn& turn : e.log.way) {
    if (turn.why == Turn::Why::kMirror) continue;
    if (last == nullptr || turn.refused == Reason::kNone || last->refused != Reason::kNone) last = &turn;
  }
  return last;
}

const Policy::Candidate* candidate(const std::vector<Policy>& choices, std::uint32_t index) {
  if (choices.empty()) return nullptr;
  for (const Policy::Candidate& c : choices.back().candidates) {
    if (c.index == index) return &c;
  }
  return nullptr;
}

std::string went(const Explanation& e) {
  const Turn* turn = decisive(e);
  return turn == nullptr ? "nothing was chosen" : turn_text(e, *turn);
}

/// Why the pool that the other run chose was not to be had in this one; empty: it was.
std::string not_open(const Explanation& here, const Explanation& other) {
  if (here.log.gateway.empty() || !other.request.pool.valid()) return "";
  const std::string wanted = pool_name(other, other.request.pool);
  for (const Policy::Candidate& c : here.log.gateway.back().candidates) {
    if (here.facts.pools[c.index].name != wanted) continue;
    if (c.refused != Reason::kNone) return fmt::format("{} refuses it there ({})", wanted, name(c.refused));
    if (c.kept_out != DecisionLog::KeptOut::kNo) {
      return fmt::format("a rule of the gateway keeps {} out there ({})", wanted, name(c.kept_out));
    }
    return "";
  }
  return "";
}

std::string loads(const char* noun, const std::string& one, const std::string& two, const Policy::Candidate* a,
                  const Policy::Candidate* b, const Policy::Candidate* c, const Policy::Candidate* d) {
  if (a == nullptr || b == nullptr || c == nullptr || d == nullptr) return "";
  if (a->load == c->load && b->load == d->load) {
    if (a->weight == c->weight && b->weight == d->weight)
      return "loads and weights are the same: the turn or draw differs";
    return fmt::format("{} {} and {} weigh {} and {}, then {} and {}", noun, one, two, human_number(a->weight),
                       human_number(b->weight), human_number(c->weight), human_number(d->weight));
  }
  return fmt::format("{} {} and {} had {} and {} requests in flight, then {} and {}", noun, one, two, a->load, b->load,
                     c->load, d->load);
}

std::string why_other_pool(const Explanation& base, const Explanation& other) {
  const std::string closed_here = not_open(base, other), closed_there = not_open(other, base);
  std::string text = fmt::format("first {}; then {}", went(base), went(other));
  if (!closed_here.empty()) return text + fmt::format("; in the first run {}", closed_here);
  if (!closed_there.empty()) return text + fmt::format("; in the second run {}", closed_there);
  if (base.log.gateway.empty() || other.log.gateway.empty()) return text;
  const std::string &one = base.log.gateway.back().policy, &two = other.log.gateway.back().policy;
  if (one != two) return text + fmt::format("; the policies are {} and {}", one, two);
  const std::uint32_t a = base.request.pool.value, b = other.request.pool.value;
  const std::string more = loads("pools", pool_name(base, base.request.pool), pool_name(other, other.request.pool),
                                 candidate(base.log.gateway, a), candidate(base.log.gateway, b),
                                 candidate(other.log.gateway, a), candidate(other.log.gateway, b));
  return more.empty() ? text : text + "; " + more;
}

/// By scorer: how far it put the first replica before the second, weighted as in the totals.
std::map<std::string, double> leads(const Pipeline& choice, std::uint32_t first, std::uint32_t second) {
  const auto& kept = choice.trace.kept;
  const auto a = static_cast<std::size_t>(std::find(kept.begin(), kept.end(), first) - kept.begin());
  const auto b = static_cast<std::size_t>(std::find(kept.begin(), kept.end(), second) - kept.begin());
  std::map<std::string, double> by_plugin;
  if (a == kept.size() || b == kept.size()) return by_plugin;
  for (const auto& s : choice.trace.scorers) {
    by_plugin[s.plugin] += s.weight * (std::clamp(s.scores[a], 0.0, 1.0) - std::clamp(s.scores[b], 0.0, 1.0));
  }
  return by_plugin;
}

std::string dropped_by(const Pipeline& choice, std::uint32_t replica) {
  for (const auto& filter : choice.trace.filters) {
    if (std::find(filter.dropped.begin(), filter.dropped.end(), replica) != filter.dropped.end()) return filter.plugin;
  }
  return "";
}

std::string why_other_score(const Pipeline& one, const Pipeline& two) {
  const std::uint32_t a = one.chosen, b = two.chosen;
  for (const auto& [choice, replica, which] : {std::tuple(&one, b, "first"), std::tuple(&two, a, "second")}) {
    const std::string filter = dropped_by(*choice, replica);
    if (!filter.empty()) return fmt::format("{} drops replica {} in the {} run", filter, replica, which);
    if (std::find(choice->trace.open.begin(), choice->trace.open.end(), replica) == choice->trace.open.end()) {
      return fmt::format("replica {} takes no more in the {} run", replica, which);
    }
  }
  std::map<std::string, std::pair<double, double>> both;
  for (const auto& [plugin, lead] : leads(one, a, b)) both[plugin].first = lead;
  for (const auto& [plugin, lead] : leads(two, a, b)) both[plugin].second = lead;
  const auto apart = [](const auto& entry) { return std::abs(entry.second.first - entry.second.second); };
  const auto most =
      std::max_element(both.begin(), both.end(), [&](const auto& x, const auto& y) { return apart(x) < apart(y); });
  if (one.trace.open.size() != two.trace.open.size() && (most == both.end() || !(apart(*most) > 0))) {
    return fmt::format("there were {} replicas to choose from, then {}", one.trace.open.size(), two.trace.open.size());
  }
  if (most == both.end() || !(apart(*most) > 0)) {
    return one.trace.picker == two.trace.picker
               ? "no score of the two replicas differs: the draw of the picker does"
               : fmt::format("no score of the two replicas differs: the pickers are {} and {}", one.trace.picker,
                             two.trace.picker);
  }
  return fmt::format("{} (weighted) puts replica {} before replica {} by {} in the first run and by {} in the second",
                     most->first, a, b, score(most->second.first), score(most->second.second));
}

std::string chooser(const Explanation& e) {
  if (!e.log.pipelines.empty()) return "an endpoint picker";
  return e.log.policies.empty() ? "no choice" : e.log.policies.back().policy;
}

std::string why_other_replica(const Explanation& base, const Explanation& other) {
  const DecisionLog &one = base.log, &two = other.log;
  for (const auto& [e, which] : {std::pair(&base, "first"), std::pair(&other, "second")}) {
    if (!e->request.replica.valid()) {
      return fmt::format("in the {} run it never left the gateway ({})", which, name(e->request.reason));
    }
  }
  if (!one.pipelines.empty() && !two.pipelines.empty()) {
    return why_other_score(one.pipelines.back(), two.pipelines.back());
  }
  const std::string a = chooser(base), b = chooser(other);
  if (a != b) return fmt::format("the replica is chosen by {}, then by {}", a, b);
  if (one.policies.empty() || two.policies.empty()) return "";
  const std::uint32_t first = one.policies.back().chosen, second = two.policies.back().chosen;
  return loads("replicas", std::to_string(first), std::to_string(second), candidate(one.policies, first),
               candidate(one.policies, second), candidate(two.policies, first), candidate(two.policies, second));
}

}  // namespace

std::string way_text(const Explanation& e) {
  const auto& way = e.log.way;
  if (way.empty() || (way.size() == 1 && way[0].why == Turn::Why::kPolicy && way[0].refused == Reason::kNone))
    return "";
  std::string text = "\nWay, from when it was sent\n";
  for (const Turn& turn : way) {
    const std::string at = human_seconds(to_seconds(turn.at - e.request.at.sent).value);
    text += wrapped(fmt::format("  {:>9}  ", at), turn_text(e, turn));
  }
  return text;
}

std::string difference_reason(const Explanation& base, const Explanation& candidate) {
  const std::string one = pool_name(base, base.request.pool), two = pool_name(candidate, candidate.request.pool);
  return one == two ? why_other_replica(base, candidate) : why_other_pool(base, candidate);
}

}  // namespace poolcast
