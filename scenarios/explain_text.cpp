// SPDX-License-Identifier: Apache-2.0
#include "scenarios/explain_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "scenarios/explain_way.h"
#include "scenarios/human.h"
#include "scenarios/summary_text.h"
#include "scenarios/text_table.h"
#include "sim/gates.h"

namespace poolcast {
namespace {

using Policy = DecisionLog::PolicyChoice;
using Pipeline = DecisionLog::PipelineChoice;
using Stage = DecisionLog::Stage;

constexpr std::size_t kMostRows = 20;  ///< of a table of candidates

std::string seconds(SimTime t) { return human_seconds(to_seconds(t).value); }
std::string count(std::int64_t value) {
  return human_count(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)));
}
std::string score(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : fmt::format("{}", value);
}

std::string head(const Explanation& e) {
  const std::string& digest = e.facts.scenario_digest;
  return fmt::format("poolcast {}   {}   seed {}   digest {}\n\n", e.facts.version, shortened(e.facts.scenario, 48),
                     e.facts.seed, digest.substr(digest.find(':') + 1).substr(0, 12));
}

/// "nvidia/2": the pool's name and the engine's number in it.
std::string replica_name(const RunFacts& facts, ReplicaId id) {
  std::uint32_t first = 0;
  for (const PoolFacts& pool : facts.pools) {
    const auto engines = static_cast<std::uint32_t>(pool.replicas * pool.ranks);
    if (id.value < first + engines) return fmt::format("{}/{}", pool.name, id.value - first);
    first += engines;
  }
  return "?";
}

// ---------------------------------------------------------------- the request

std::string ending(const RequestRecord& r) {
  std::string how = name(r.outcome);
  std::replace(how.begin(), how.end(), '_', ' ');
  if (r.reason != Reason::kNone) how += fmt::format(" ({})", name(r.reason));
  how += fmt::format(" after {}", seconds(r.ended - r.at.sent));
  if (r.at.first_token != kNever) {
    how += fmt::format(": first token after {}", seconds(r.at.first_token - r.at.intended));
    if (r.output_tokens > 1) {
      const double gap =
          to_seconds(r.at.last_token - r.at.first_token).value / static_cast<double>(r.output_tokens - 1);
      how += fmt::format(", then one every {}", human_seconds(gap));
    }
  }
  return how + (r.accepted ? "; accepted" : "");
}

std::string request_text(const Explanation& e) {
  const RequestRecord& r = e.request;
  const ClassSpec& cls = e.facts.classes[r.cls.value];
  std::string text = fmt::format("Request {} of source {}: {}, class {}\n", r.row, r.source.value,
                                 e.facts.models[r.model.value], cls.name);
  std::string size = fmt::format("prompt {} tokens", count(r.prompt_tokens));
  if (r.cached_tokens > 0) size += fmt::format(" ({} found in a prefix cache)", count(r.cached_tokens));
  size += fmt::format(", output {} of {} tokens", count(r.output_tokens), count(r.output_target));
  if (r.priority != 0) size += fmt::format(", priority {}", r.priority);
  if (r.session != UINT64_MAX) size += fmt::format(", session {}", r.session);
  text += wrapped("  ", size);
  std::string sent = fmt::format("sent {} into the run", human_span(to_seconds(r.at.sent).value));
  if (r.at.sent > r.at.intended) sent += fmt::format(", held back for {}", seconds(r.at.sent - r.at.intended));
  text += wrapped("  ", sent) + wrapped("  ", ending(r));
  const bool asked = !e.log.gateway.empty() || !e.log.way.empty();
  if (r.outcome == Outcome::kRejected && !asked) {
    text += "  beyond the limits of the contract: no pool was asked\n";
  }
  return text;
}

// ---------------------------------------------------------------- choices

/// The rows of a table that are shown: all, or those that matter most, and a line about the rest.
struct Shown {
  std::vector<std::size_t> rows;
  std::string rest;
};

template <class Rank>
Shown shown(std::size_t size, Rank rank) {
  Shown s;
  s.rows.resize(size);
  std::iota(s.rows.begin(), s.rows.end(), std::size_t{0});
  if (size <= kMostRows) return s;
  std::stable_sort(s.rows.begin(), s.rows.end(), [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
  s.rows.resize(kMostRows);
  std::sort(s.rows.begin(), s.rows.end());
  s.rest = fmt::format("  and {} more, which rank below these\n", count(static_cast<std::int64_t>(size - kMostRows)));
  return s;
}

std::string who_chooses(const Explanation& e, const Policy& choice) {
  if (!choice.pool.valid() && choice.prefill) return fmt::format("\nGateway, of the prompt: {}\n", choice.policy);
  if (!choice.pool.valid() && choice.model.valid() && choice.model != e.request.model) {
    return fmt::format("\nGateway, as {}: {}\n", e.facts.models[choice.model.value], choice.policy);
  }
  if (!choice.pool.valid()) return fmt::format("\nGateway: {}\n", choice.policy);
  const std::string& pool = e.facts.pools[choice.pool.value].name;
  if (choice.ranks_of == UINT32_MAX) return fmt::format("\nPool {}: {}\n", pool, choice.policy);
  return fmt::format("\nRanks of replica {} of {}: {}\n", choice.ranks_of, pool, choice.policy);
}

/// Which gates each implementation passes, where one does not pass all.
std::string gates_text(const Explanation& e, const Policy& choice) {
  const auto closed = [](const auto& c) { return c.refused != Reason::kNone; };
  if (std::none_of(choice.candidates.begin(), choice.candidates.end(), closed)) {
    return choice.candidates.size() > 1 ? "  every implementation passes every gate\n" : "";
  }
  std::vector<std::string> header = {"  gates"};
  for (int gate = 0; gate < kGates; ++gate) header.push_back(name(static_cast<Gate>(gate)));
  TextTable table(header);
  for (const auto& c : choice.candidates) {
    std::vector<std::string> cells = {e.facts.pools[c.index].name};
    for (const Reason reason : c.gates) cells.push_back(reason == Reason::kNone ? "ok" : name(reason));
    cells.resize(header.size());
    table.row(cells);
  }
  return table.text();
}

std::string policy_text(const Explanation& e, const Policy& choice) {
  const bool gateway = !choice.pool.valid();
  std::string text = who_chooses(e, choice);
  const char* const what = gateway ? "  pool" : choice.ranks_of == UINT32_MAX ? "  replica" : "  rank";
  TextTable table({what, "load", "weight", "waiting", "running", "KV", ""});
  const auto rank = [&](std::size_t i) {
    const auto& c = choice.candidates[i];
    return c.index == choice.chosen ? 1e300 : -static_cast<double>(c.load) / std::max(c.weight, 1e-9);
  };
  const Shown rows = shown(choice.candidates.size(), rank);
  for (const std::size_t i : rows.rows) {
    const auto& c = choice.candidates[i];
    std::string note;
    if (c.refused != Reason::kNone) note = fmt::format("no: {}", name(c.refused));
    if (c.kept_out != DecisionLog::KeptOut::kNo) {
      note += fmt::format("{} rule: {}", note.empty() ? "no:" : ",", name(c.kept_out));
    }
    if (c.index == choice.chosen) {
      note = c.refused == Reason::kNone ? "<- chosen" : fmt::format("<- chosen, though {}", name(c.refused));
    }
    table.row({gateway ? e.facts.pools[c.index].name : std::to_string(c.index), count(c.load), human_number(c.weight),
               count(c.waiting), count(c.running), human_share(c.kv_usage), note});
  }
  text += table.text() + rows.rest + (gateway ? gates_text(e, choice) : "");
  if (choice.chosen == UINT32_MAX) text += "  none can take it\n";
  return text;
}

std::string indices(const std::vector<std::uint32_t>& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == kMostRows) return text + fmt::format(" and {} more", list.size() - i);
    text += (i > 0 ? ", " : "") + std::to_string(list[i]);
  }
  return text;
}

std::string age(double milliseconds) {
  return std::isfinite(milliseconds) ? human_seconds(milliseconds / 1e3) : "never";
}

std::size_t place_of(const routing::PipelineTrace& trace, std::uint32_t replica) {
  return static_cast<std::size_t>(std::find(trace.kept.begin(), trace.kept.end(), replica) - trace.kept.begin());
}

/// "3 of 8", and what the approximate index believes where there is one beside the exact one.
std::string match_text(const routing::Endpoints& seen, std::uint32_t replica) {
  const routing::PrefixMatch& prefix = seen.prefix[replica];
  if (prefix.total_blocks == 0) return "-";
  const std::string text = fmt::format("{} of {}", prefix.match_blocks, prefix.total_blocks);
  if (seen.approximate.empty()) return text;
  return fmt::format("{} ({} believed)", text, seen.approximate[replica].match_blocks);
}

/// What the picker saw of each replica.
std::string signals_text(const Pipeline& choice, const Shown& rows) {
  std::vector<std::string> header = {"  replica", "waiting",   "running",          "KV",
                                     "age",       "in flight", "tokens in flight", "prefix blocks"};
  if (!choice.seen.busy.empty()) header.emplace_back("busy");
  TextTable table(header);
  for (const std::size_t i : rows.rows) {
    const std::uint32_t replica = choice.trace.open[i];
    const routing::Endpoints& seen = choice.seen;
    std::vector<std::string> row = {std::to_string(replica),
                                    count(seen.waiting[replica]),
                                    count(seen.running[replica]),
                                    human_share(seen.kv_usage[replica]),
                                    age(seen.metric_age_ms[replica]),
                                    count(seen.in_flight_requests[replica]),
                                    count(seen.in_flight_tokens[replica]),
                                    match_text(seen, replica)};
    if (!seen.busy.empty()) row.push_back(human_share(seen.busy[replica]));
    table.row(row);
  }
  return table.text() + rows.rest;
}

/// And what the scorers made of that, where it came so far.
std::string scores_text(const Pipeline& choice, const Shown& rows) {
  const auto& t = choice.trace;
  std::vector<std::string> header = {"  replica"};
  for (const auto& scorer : t.scorers) {
    header.push_back(shortened(scorer.plugin, 16) +
                     (scorer.weight == 1 ? "" : fmt::format(" x{}", score(scorer.weight))));
  }
  header.insert(header.end(), {"total", ""});
  TextTable table(header);
  for (const std::size_t i : rows.rows) {
    const std::uint32_t replica = t.open[i];
    const std::size_t place = place_of(t, replica);
    std::vector<std::string> cells = {std::to_string(replica)};
    for (const auto& scorer : t.scorers) {
      cells.push_back(place < scorer.scores.size() ? score(scorer.scores[place]) : "-");
    }
    cells.push_back(place < t.totals.size() ? score(t.totals[place]) : "-");
    cells.push_back(replica == choice.chosen ? "<- chosen" : place == t.kept.size() ? "dropped" : "");
    table.row(cells);
  }
  return table.text();
}

std::string candidates_text(const Pipeline& choice) {
  const auto& t = choice.trace;
  const Shown rows = shown(t.open.size(), [&](std::size_t i) {
    const std::size_t place = place_of(t, t.open[i]);
    return t.open[i] == choice.chosen ? 1e300 : place < t.totals.size() ? t.totals[place] : -1e300;
  });
  return signals_text(choice, rows) + scores_text(choice, rows);
}

std::string pick_text(const Pipeline& choice) {
  const auto& t = choice.trace;
  if (choice.chosen == UINT32_MAX) return "  no replica is left: the request is rejected as saturated\n";
  std::vector<std::uint32_t> best;
  const double most = t.totals.empty() ? 0 : *std::max_element(t.totals.begin(), t.totals.end());
  for (std::size_t i = 0; i < t.totals.size(); ++i) {
    if (t.totals[i] == most) best.push_back(t.kept[i]);
  }
  std::sort(best.begin(), best.end());
  std::string text = fmt::format("{} picks replica {}", t.picker, choice.chosen);
  if (best.size() > 1)
    text += fmt::format("; the highest total is that of {} replicas: {}", best.size(), indices(best));
  if (best.size() == 1 && best.front() != choice.chosen) {
    text += fmt::format("; the highest total is that of replica {}", best.front());
  }
  return wrapped("  ", text);
}

std::string pipeline_text(const Explanation& e, const Pipeline& choice) {
  std::string text = fmt::format("\nPool {}: endpoint picker over {} replicas\n", e.facts.pools[choice.pool.value].name,
                                 count(static_cast<std::int64_t>(choice.trace.open.size())));
  for (const auto& filter : choice.trace.filters) {
    text +=
        wrapped(fmt::format("  {} drops ", filter.plugin), filter.dropped.empty() ? "none" : indices(filter.dropped));
  }
  return text + candidates_text(choice) + pick_text(choice);
}

std::string choices_text(const Explanation& e) {
  std::string text;
  for (const Policy& choice : e.log.gateway) text += policy_text(e, choice);
  text += way_text(e);
  for (const Policy& choice : e.log.policies) text += policy_text(e, choice);
  for (const Pipeline& choice : e.log.pipelines) text += pipeline_text(e, choice);
  return text;
}

// ---------------------------------------------------------------- steps

std::string batch(const Stage& s) {
  if (s.most_batch == 1) return "alone";
  return s.least_batch == s.most_batch
             ? fmt::format("{} requests each", count(s.most_batch))
             : fmt::format("{} to {} requests each", count(s.least_batch), count(s.most_batch));
}

std::string what(const Stage& s) {
  const std::string steps = s.steps == 1 ? "1 step" : fmt::format("{} steps", count(s.steps));
  switch (s.kind) {
    case Stage::Kind::kQueued:
      return fmt::format("joins the queue behind {}; {} running", count(s.least_batch), count(s.most_batch));
    case Stage::Kind::kPrefill:
      return fmt::format("prefill of {}{} in {}, {}", s.tokens == 1 ? "1 token" : count(s.tokens) + " tokens",
                         s.context > 0 ? fmt::format(" after {} known", count(s.context)) : "", steps, batch(s));
    case Stage::Kind::kDecode:
      return fmt::format("decode in {}, {}", steps, batch(s));
    case Stage::Kind::kStarved:
      return fmt::format("no token in {}, {}", steps, batch(s));
    case Stage::Kind::kPreempted:
      return fmt::format("preempted; loses {} computed tokens", count(s.tokens));
  }
  return "";
}

/// Instants of the record that no stage tells, where the engine does not work in steps or the prompt came from
/// elsewhere.
void add_instants(const RequestRecord& r, std::vector<std::pair<SimTime, std::string>>& lines, bool steps) {
  const auto add = [&](SimTime at, const char* text) {
    if (at != kNever) lines.emplace_back(at, text);
  };
  if (r.at.routed != kNever && r.at.routed > r.at.sent) add(r.at.routed, "a replica is chosen");
  if (!steps) {
    add(r.at.queued, "joins the queue");
    add(r.at.first_scheduled, "is first scheduled");
  }
  add(r.at.prefilled, "its prompt is computed");
  add(r.at.transferred, "its KV has come");
  add(r.at.first_token, "first token");
  add(r.ended, r.outcome == Outcome::kCompleted ? "ends" : "leaves");
}

std::string steps_text(const Explanation& e) {
  const RequestRecord& r = e.request;
  if (!r.replica.valid()) return "";
  std::vector<std::pair<SimTime, std::string>> lines;
  ReplicaId before = r.replica;
  for (const Stage& s : e.log.stages) {
    const std::string where = s.replica == before ? "" : replica_name(e.facts, s.replica) + ": ";
    before = s.replica;
    const std::string until = s.steps > 0 ? fmt::format(", until {}", seconds(s.end - r.at.sent)) : "";
    lines.emplace_back(s.start, where + what(s) + until);
  }
  add_instants(r, lines, !e.log.stages.empty());
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = fmt::format("\nReplica {}, from when it was sent\n", replica_name(e.facts, r.replica));
  for (const auto& [at, line] : lines) text += wrapped(fmt::format("  {:>9}  ", seconds(at - r.at.sent)), line);
  return text;
}

}  // namespace

std::string explanation_text(const Explanation& e) {
  return head(e) + request_text(e) + choices_text(e) + steps_text(e);
}

std::string difference_text(const ExplainedDifference& d) {
  std::string text = fmt::format("{} requests in both runs, {} of them went elsewhere", human_count(d.requests),
                                 human_count(d.elsewhere));
  if (d.unpaired > 0) text += fmt::format("; {} were in one run only", human_count(d.unpaired));
  text += "\n";
  if (!d.first) return text;
  const auto went = [](const Explanation& e) {
    const RequestRecord& r = e.request;
    return r.replica.valid() ? "to " + replica_name(e.facts, r.replica) : fmt::format("nowhere ({})", name(r.reason));
  };
  text += wrapped("", fmt::format("The first: {} sent it {}, {} {}", d.first->base.facts.scenario, went(d.first->base),
                                  d.first->candidate.facts.scenario, went(d.first->candidate)));
  const std::string why = difference_reason(d.first->base, d.first->candidate);
  text += (why.empty() ? "" : wrapped("", "Why: " + why)) + "\n";
  for (const Explanation* e : {&d.first->base, &d.first->candidate}) {
    text += fmt::format("{}== {} ==\n{}{}{}", e == &d.first->base ? "" : "\n", e->facts.scenario, request_text(*e),
                        choices_text(*e), steps_text(*e));
  }
  return text;
}

}  // namespace poolcast
