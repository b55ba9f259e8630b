// SPDX-License-Identifier: Apache-2.0
#include "scenarios/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/human.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

std::string value_text(Figure figure, const MeanInterval& interval, std::int64_t endless) {
  if (interval.count == 0) return endless > 0 ? "endless" : "-";
  if (is_share(figure)) return human_share(interval.mean);
  if (figure == Figure::kCost) return human_usd(interval.mean);
  return human_seconds(interval.mean);
}

/// "+3.1 % [+2.9, +3.3]", of shares in points.
std::string change_text(const Difference& d) {
  if (d.candidate_endless + d.base_endless > 0) {
    return fmt::format("endless in {} more", d.candidate_endless - d.base_endless);
  }
  if (d.zero) return "0";
  const bool points = is_share(d.figure);
  const auto scaled = [&](double x) { return points ? x * 100 : d.relative(x).value_or(0) * 100; };
  const MeanInterval& m = d.difference;
  const char* const unit = points ? "pt" : "%";
  if (!m.has_interval()) return fmt::format("{:+.2f} {}", scaled(m.mean), unit);
  return fmt::format("{:+.2f} {} [{:+.2f}, {:+.2f}]", scaled(m.mean), unit, scaled(m.low), scaled(m.high));
}

std::string margin_text(const Margin& margin) {
  const char* const sign = more_is_better(margin.figure) ? "-" : "+";
  return fmt::format("{}{:.4g} {}", sign, margin.most * 100, is_share(margin.figure) ? "pt" : "%");
}

const Difference* find(const GroupDifferences& group, Figure figure) {
  const auto found =
      std::find_if(group.figures.begin(), group.figures.end(), [&](const Difference& d) { return d.figure == figure; });
  return found == group.figures.end() ? nullptr : &*found;
}

const char* verdict_text(const GateOutcome& gate) {
  constexpr const char* kTexts[] = {"pass", "FAIL", "open", "not judged"};
  return kTexts[static_cast<int>(gate.verdict)];
}

std::string head(const Comparison& c) {
  const auto digits = [](const std::string& digest) { return digest.substr(digest.find(':') + 1).substr(0, 12); };
  return fmt::format("poolcast {}   {} {} -> {} {}   seed {}\n\n", c.version, shortened(c.base_name, 24),
                     digits(c.base_digest), shortened(c.candidate_name, 24), digits(c.candidate_digest), c.seed);
}

std::string open_text(const Comparison& c) {
  if (c.verdict != Verdict::kNotEnoughEvidence) return "";
  if (!c.replications_needed) return "";
  const auto per_replication = static_cast<std::int64_t>(c.groups[0].requests) / c.replications;
  const std::int64_t requests = *c.replications_needed * per_replication;
  return fmt::format(": about {} replications of this length would decide ({} requests, {} more)",
                     human_count(static_cast<std::uint64_t>(*c.replications_needed)),
                     human_count(static_cast<std::uint64_t>(requests)),
                     human_count(static_cast<std::uint64_t>(requests) - c.groups[0].requests));
}

std::string verdict_of(const Comparison& c) {
  std::string text = wrapped("Verdict  ", name(c.verdict) + open_text(c));
  for (const MoveRehearsal& m : c.moves) {
    const std::string move = fmt::format("move {} -> {}: ", m.first.facts.from, m.first.facts.to);
    std::string counts = fmt::format("completed in {} of {} replications", m.completed, c.replications);
    if (m.rolled_back > 0) counts += fmt::format(", rolled back or not begun in {}", m.rolled_back);
    if (m.other > 0) counts += fmt::format(", not at its end when the load was in {}", m.other);
    text += wrapped("         ", move + counts);
  }
  return text + "\n";
}

std::string gates(const Comparison& c) {
  TextTable table({"Gates", "base", "candidate", "difference", "margin", ""});
  for (const GateOutcome& gate : c.gates) {
    const Difference* const d = find(c.groups[0], gate.margin.figure);
    if (d == nullptr) {
      table.row({title(gate.margin.figure), "-", "-", "-", margin_text(gate.margin), verdict_text(gate)});
      continue;
    }
    table.row({title(d->figure), value_text(d->figure, d->base, d->base_endless),
               value_text(d->figure, d->candidate, d->candidate_endless), change_text(*d), margin_text(gate.margin),
               verdict_text(gate)});
  }
  return table.text() + "\n";
}

std::string others(const Comparison& c) {
  TextTable table({"Other figures", "base", "candidate", "difference"});
  bool some = false;
  for (const Difference& d : c.groups[0].figures) {
    const bool gated = std::any_of(c.gates.begin(), c.gates.end(),
                                   [&](const GateOutcome& gate) { return gate.margin.figure == d.figure; });
    if (gated) continue;
    some = true;
    table.row({title(d.figure), value_text(d.figure, d.base, d.base_endless),
               value_text(d.figure, d.candidate, d.candidate_endless), change_text(d)});
  }
  return some ? table.text() + "\n" : "";
}

std::string who(const Comparison& c) {
  TextTable table({"Who, by prompt", "requests", "TTFT p99", "E2E p99", "goodput", ""});
  const auto change = [&](const GroupDifferences& group, Figure figure) {
    const Difference* const d = find(group, figure);
    return d == nullptr ? "-" : change_text(*d);
  };
  for (std::size_t g = 1; g < c.groups.size(); ++g) {
    const GroupDifferences& group = c.groups[g];
    table.row({group.name, human_count(group.requests), change(group, Figure::kTtftP99), change(group, Figure::kE2eP99),
               change(group, Figure::kGoodput), who_gains(group)});
  }
  return table.text() + "\n";
}

/// What the cold caches of the new pool cost, by step, in the first replication.
std::string transition(const MoveRehearsal& move) {
  std::int64_t again = 0, prompt = 0, ideal = 0;
  for (const MoveStepReport& step : move.first.report.steps) {
    again += recomputed(step.moved.first);
    prompt += step.moved.first.prompt_tokens;
    ideal += step.moved.first.ideal_tokens;
  }
  if (ideal == 0) return "";  // no prefix data, or nothing that was shared
  return wrapped(
      "Transition  ",
      fmt::format("at the beginning of its steps the moved traffic computed {} prompt tokens that a cache "
                  "had held before, of {}",
                  human_count(static_cast<std::uint64_t>(again)), human_count(static_cast<std::uint64_t>(prompt))));
}

std::string moves(const Comparison& c) {
  std::string text;
  for (const MoveRehearsal& move : c.moves) {
    text += move_text(move.first) + transition(move);
    const char* lead = "Way back    ";
    for (const std::string& sentence : reverse_plan(move)) {
      text += wrapped(lead, sentence);
      lead = "            ";
    }
    text += "\n";
  }
  return text;
}

std::string notes(const Comparison& c) {
  std::string text = "Notes\n";
  for (const std::string& note : c.notes) text += wrapped("  - ", note);
  text += wrapped("  - ", fmt::format("differences are candidate - base, paired over {} replications of both with the "
                                      "same seeds: mean +- t({:.4g} %, n - 1) s / sqrt(n); percents are of the base's "
                                      "mean, pt are percentage points",
                                      c.replications, c.confidence * 100));
  text += wrapped("  - ",
                  "go: every whole interval lies within its margin; no-go: a whole interval lies beyond one, or a move "
                  "rolled back in half of the replications or more");
  if (c.moves.empty()) {
    text += wrapped("  - ", "the candidate states no move of traffic, so nothing is said of the way there and back");
  }
  return text;
}

}  // namespace

std::string who_gains(const GroupDifferences& group) {
  bool gains = false, loses = false;
  for (const Figure figure : {Figure::kTtftP99, Figure::kTpotP99, Figure::kE2eP99, Figure::kGoodput}) {
    const Difference* const d = find(group, figure);
    if (d == nullptr) continue;
    loses |= d->candidate_endless > d->base_endless;
    gains |= d->base_endless > d->candidate_endless;
    if (!d->difference.has_interval() || d->zero) continue;
    (more_is_better(figure) ? gains : loses) |= d->difference.low > 0;
    (more_is_better(figure) ? loses : gains) |= d->difference.high < 0;
  }
  return gains && loses ? "both" : gains ? "gains" : loses ? "loses" : "-";
}

std::vector<std::string> reverse_plan(const MoveRehearsal& move) {
  const MoveReport& report = move.first.report;
  const MoveFacts& facts = move.first.facts;
  const MoveStepReport* last = nullptr;  // the highest share that was held
  for (const MoveStepReport& step : report.steps) {
    if (step.kind != MoveStepReport::Kind::kBack && step.share > 0) last = &step;
  }
  if (last == nullptr) return {"no traffic moved, so nothing is to be reversed"};
  std::string way = fmt::format("from {:.4g} %", last->share * 100);
  for (const MoveStep& step : facts.roll_back) {
    if (step.share >= last->share) continue;
    way += fmt::format(" to {:.4g} %", step.share * 100);
    if (step.share > 0) way += fmt::format(" for {}", human_span(to_seconds(step.length).value));
  }
  std::vector<std::string> plan = {way + fmt::format(" of the traffic of {}", facts.from)};
  const Warmth& warmth = last->moved.all;
  const double minutes = to_seconds(last->end - last->begin).value / 60;
  if (warmth.cached_tokens > 0 && minutes > 0) {
    plan.push_back(
        fmt::format("lost: what the caches of {} hold; they gave the moved traffic {} prompt tokens a minute "
                    "({} of its prompts), which {} computes again at first",
                    facts.to, human_number(static_cast<double>(warmth.cached_tokens) / minutes),
                    human_share(hit_rate(warmth).value_or(0)), facts.from));
  } else {
    plan.emplace_back("lost: no cache hits, since the moved traffic had none; requests in flight end where they are");
  }
  return plan;
}

std::string comparison_text(const Comparison& c) {
  return head(c) + verdict_of(c) + gates(c) + others(c) + who(c) + moves(c) + notes(c);
}

}  // namespace poolcast
