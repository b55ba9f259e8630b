// SPDX-License-Identifier: Apache-2.0
#include "scenarios/move_summary.h"

#include <fmt/format.h>

#include "scenarios/gate_summary.h"
#include "scenarios/human.h"
#include "scenarios/summary_text.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

using End = MoveReport::Outcome;
using Kind = MoveStepReport::Kind;

std::string measured(const MoveGate& gate, double value) {
  return gate.what == MoveGate::What::kLatency ? human_seconds(value) : human_share(value);
}

std::string share_text(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string label(const MoveStepReport& step) {
  if (step.kind == Kind::kBefore) return "before";
  const char* const lead = step.kind == Kind::kBack ? "back to " : step.kind == Kind::kHeld ? "then " : "";
  return lead + share_text(step.share);
}

const char* end_text(const MoveStepReport& step) {
  constexpr const char* kEnds[] = {"passed", "FAILED", "ABORTED", "", ""};
  return kEnds[static_cast<int>(step.ended)];
}

std::string p99(const Cell& cell) {
  const Histogram& h = cell.latencies[Metric::kTtft];
  return h.count() == 0 ? "-" : human_seconds(to_seconds(h.quantile(0.99)).value);
}

std::string rate_text(const Warmth& warmth) {
  const auto rate = hit_rate(warmth);
  if (warmth.ideal_tokens == 0) return "-";  // there was nothing to find
  return rate ? human_share(*rate) : "-";
}

std::string errors_text(const Outcomes& o) {
  if (o.offered == 0) return "-";
  return human_share(1 - static_cast<double>(o.count(Outcome::kCompleted)) / static_cast<double>(o.offered));
}

}  // namespace

std::optional<double> hit_rate(const Warmth& warmth) {
  if (warmth.prompt_tokens == 0) return std::nullopt;
  return static_cast<double>(warmth.cached_tokens) / static_cast<double>(warmth.prompt_tokens);
}

std::int64_t recomputed(const Warmth& warmth) {
  return std::max<std::int64_t>(0, warmth.ideal_tokens - warmth.cached_tokens);
}

std::string gate_text(const GateResult& r) {
  std::string what;
  if (r.gate.what == MoveGate::What::kErrorRate) {
    what = "error rate";
  } else if (r.gate.what == MoveGate::What::kEligible) {
    what = "share that the new pool takes";
  } else {
    what = fmt::format("{} p{}", title(r.gate.metric), r.gate.percentile);
  }
  if (r.verdict == GateResult::Verdict::kTooFew) {
    return r.limit ? fmt::format("{}: too few requests to judge ({})", what, r.requests)
                   : fmt::format("{}: too few requests stayed to compare with", what);
  }
  const std::string value = r.value ? measured(r.gate, *r.value) : "without end";
  const std::string relative = r.gate.relative ? fmt::format(" ({} x those that stayed)", r.gate.limit) : "";
  return fmt::format("{} {}, limit {}{}", what, value, measured(r.gate, *r.limit), relative);
}

std::string outcome_text(const MoveSummary& move) {
  const MoveReport& r = move.report;
  const std::string at = r.decided == kNever ? "" : human_span(to_seconds(r.decided).value);
  switch (r.outcome) {
    case End::kCompleted:
      return "completed at " + at;
    case End::kRunEnded:
      return "the load ended before the move did";
    case End::kNotQualified:
      return move.facts.score_bound
                 ? fmt::format("not begun: the evaluation score is surely at least {:.4f} only, threshold {}",
                               *move.facts.score_bound, move.facts.threshold.value_or(0))
                 : "not begun: the new implementation has no evaluation score and sample size";
    case End::kRolledBack:
      break;
  }
  std::vector<std::string> causes;
  for (const GateResult& cause : r.causes) causes.push_back(gate_text(cause));
  return fmt::format("rolled back at {}: {}", at, fmt::join(causes, "; "));
}

std::string move_text(const MoveSummary& move) {
  TextTable table({"Move", "at", "moved", "not taken", "errors", "TTFT p99", "stayed", "hits first", "all", ""});
  for (const MoveStepReport& step : move.report.steps) {
    if (step.kind == Kind::kBefore && step.end == 0) continue;
    const Outcomes& moved = step.moved.cell.outcomes;
    table.row({label(step), human_span(to_seconds(step.begin).value), human_count(moved.offered),
               human_count(step.not_taken), errors_text(moved), p99(step.moved.cell), p99(step.stayed.cell),
               rate_text(step.moved.first), rate_text(step.moved.all), end_text(step)});
  }
  std::array<std::uint64_t, kReasons> reasons{};
  for (const MoveStepReport& step : move.report.steps) {
    for (std::size_t i = 0; i < reasons.size(); ++i) reasons[i] += step.reasons[i];
  }
  const std::string why = reasons_text(reasons);
  const std::string not_taken = why.empty() ? why : wrapped("  ", "not taken: " + why);
  const std::string who = move.facts.cls.empty() ? "" : " (" + move.facts.cls + ")";
  return table.text() + not_taken +
         wrapped("  ", fmt::format("{} -> {}{}: {}", move.facts.from, move.facts.to, who, outcome_text(move))) + "\n";
}

}  // namespace poolcast
