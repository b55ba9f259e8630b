// SPDX-License-Identifier: Apache-2.0
#include "scenarios/policy_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "scenarios/printable.h"
#include "scenarios/text_table.h"
#include "sim/policies/registry.h"

namespace poolcast {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

/// What a case came to.
struct Decisions {
  std::vector<std::uint32_t> picks;  ///< kNobody: none
  routing::PipelineTrace first;
  std::int64_t script_failures = 0;
  std::string script_message;
};

class CaseSignals : public Signals {
 public:
  explicit CaseSignals(const routing::Endpoints& endpoints) : endpoints_(endpoints) {}
  std::int64_t waiting(std::uint32_t index) const override { return endpoints_.waiting[index]; }
  std::int64_t running(std::uint32_t index) const override { return endpoints_.running[index]; }
  double kv_usage(std::uint32_t index) const override { return endpoints_.kv_usage[index]; }

 private:
  const routing::Endpoints& endpoints_;
};

std::vector<std::uint32_t> everyone(const PolicyCase& c) {
  std::vector<std::uint32_t> indices(c.names.size());
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

Decisions decide_by_pipeline(const routing::PipelineSpec& spec, const PolicyCase& c) {
  Decisions decisions;
  routing::Pipeline pipeline(spec, c.seed, "policy-test");
  pipeline.bind(c.endpoints);
  const auto open = everyone(c);
  pipeline.trace(&decisions.first);
  for (std::int64_t i = 0; i < c.repeat; ++i) {
    decisions.picks.push_back(pipeline.decide(c.request, c.endpoints, open).endpoint.value_or(kNobody));
    pipeline.trace(nullptr);
  }
  for (const auto& [plugin, faults] : pipeline.script_faults()) {
    decisions.script_failures += static_cast<std::int64_t>(faults.failed);
    if (faults.failed > 0 && decisions.script_message.empty()) {
      decisions.script_message = fmt::format("{}: {}", plugin, faults.first);
    }
  }
  return decisions;
}

Decisions decide_by_policy(const std::string& name, const PolicyCase& c) {
  Decisions decisions;
  const auto policy = make_policy(name, c.seed, "policy-test");
  const CaseSignals signals(c.endpoints);
  const auto open = everyone(c);
  for (std::int64_t i = 0; i < c.repeat; ++i) {
    decisions.picks.push_back(policy->choose({c.endpoints.in_flight_requests, c.weights, open, &signals}));
  }
  return decisions;
}

std::string name_of(const PolicyCase& c, std::uint32_t endpoint) {
  return endpoint == kNobody ? "none" : c.names[endpoint];
}

std::string names_of(const PolicyCase& c, const std::vector<std::uint32_t>& endpoints) {
  std::string text;
  for (const std::uint32_t e : endpoints) text += (text.empty() ? "" : ", ") + name_of(c, e);
  return text.empty() ? "none" : text;
}

// ---------------------------------------------------------------- comparing

using Differences = std::vector<std::string>;

void compare_picks(const PolicyCase& c, const Decisions& d, Differences& out) {
  if (!c.one_of) return;
  for (std::size_t i = 0; i < d.picks.size(); ++i) {
    const bool wanted = c.one_of->empty()
                            ? d.picks[i] == kNobody
                            : std::find(c.one_of->begin(), c.one_of->end(), d.picks[i]) != c.one_of->end();
    if (wanted) continue;
    const std::string which = d.picks.size() > 1 ? fmt::format("decision {} of {}: ", i + 1, d.picks.size()) : "";
    out.push_back(fmt::format("{}picked {}, expected {}{}", which, name_of(c, d.picks[i]),
                              c.one_of->size() > 1 ? "one of " : "", names_of(c, *c.one_of)));
    return;
  }
}

void compare_sequence(const PolicyCase& c, const Decisions& d, Differences& out) {
  if (!c.sequence || d.picks == *c.sequence) return;
  out.push_back(fmt::format("picked {}, expected {}", names_of(c, d.picks), names_of(c, *c.sequence)));
}

void compare_dropped(const PolicyCase& c, const Decisions& d, Differences& out) {
  if (!c.dropped) return;
  std::vector<std::uint32_t> dropped;
  for (const auto& filter : d.first.filters)
    dropped.insert(dropped.end(), filter.dropped.begin(), filter.dropped.end());
  std::sort(dropped.begin(), dropped.end());
  if (dropped == *c.dropped) return;
  out.push_back(fmt::format("the filters dropped {}, expected {}", names_of(c, dropped), names_of(c, *c.dropped)));
}

/// Of one endpoint by one plugin or in all; NaN where a filter dropped it.
double score_of(const routing::PipelineTrace& trace, const std::string& plugin, std::uint32_t endpoint) {
  const auto place = std::find(trace.kept.begin(), trace.kept.end(), endpoint);
  if (place == trace.kept.end()) return std::nan("");
  const auto i = static_cast<std::size_t>(place - trace.kept.begin());
  if (plugin.empty()) return trace.totals[i];
  for (const auto& scored : trace.scorers) {
    if (scored.plugin == plugin) return scored.scores[i];
  }
  return std::nan("");
}

void compare_scores(const PolicyCase& c, const Decisions& d, Differences& out) {
  for (const PolicyCase::Score& expected : c.scores) {
    const double score = score_of(d.first, expected.plugin, expected.endpoint);
    if (std::fabs(score - expected.value) <= c.score_tolerance) continue;
    const std::string of = expected.plugin.empty() ? "total" : "score by " + expected.plugin;
    out.push_back(std::isnan(score)
                      ? fmt::format("{} of {}: none, expected {}", of, c.names[expected.endpoint], expected.value)
                      : fmt::format("{} of {}: {}, expected {} (difference {:.3g})", of, c.names[expected.endpoint],
                                    score, expected.value, score - expected.value));
  }
}

void compare_shares(const PolicyCase& c, const Decisions& d, Differences& out) {
  for (const auto& [endpoint, share] : c.distribution) {
    const auto picked = static_cast<double>(std::count(d.picks.begin(), d.picks.end(), endpoint));
    const double got = picked / static_cast<double>(d.picks.size());
    if (std::fabs(got - share) <= c.share_tolerance) continue;
    out.push_back(fmt::format("share of {}: {:.4g} of {} decisions, expected {:.4g} +- {:.4g}", c.names[endpoint], got,
                              d.picks.size(), share, c.share_tolerance));
  }
}

void compare_failures(const PolicyCase& c, const Decisions& d, Differences& out) {
  if (d.script_failures == c.script_failures) return;
  out.push_back(fmt::format("{} calls of a script failed, expected {}{}", d.script_failures, c.script_failures,
                            d.script_message.empty() ? "" : "; " + d.script_message));
}

/// Two spaces, so that it stands below its case.
std::string scores_table(const PolicyCase& c, const routing::PipelineTrace& trace) {
  if (trace.open.empty()) return "";
  std::vector<std::string> header = {"  endpoint"};
  for (const auto& s : trace.scorers) {
    header.push_back(shortened(s.plugin, 16) + (s.weight == 1 ? "" : fmt::format(" x{}", s.weight)));
  }
  header.insert(header.end(), {"total", ""});
  TextTable table(header);
  const auto cell = [](double score) { return std::isnan(score) ? "-" : fmt::format("{:.6g}", score); };
  for (const std::uint32_t e : trace.open) {
    std::vector<std::string> cells = {c.names[e]};
    for (const auto& s : trace.scorers) cells.push_back(cell(score_of(trace, s.plugin, e)));
    cells.push_back(cell(score_of(trace, "", e)));
    const bool kept = std::find(trace.kept.begin(), trace.kept.end(), e) != trace.kept.end();
    const bool picked = !trace.picked.empty() && trace.picked.front() == e;
    cells.push_back(picked ? "<- picked" : kept ? "" : "dropped");
    table.row(cells);
  }
  return table.text();
}

}  // namespace

PolicyCaseResult run_policy_case(const PolicyUnderTest& policy, const PolicyCase& c) {
  const Decisions d =
      policy.pipeline != nullptr ? decide_by_pipeline(*policy.pipeline, c) : decide_by_policy(policy.name, c);
  PolicyCaseResult result{c.name, {}, scores_table(c, d.first)};
  for (const auto compare :
       {compare_picks, compare_sequence, compare_dropped, compare_scores, compare_shares, compare_failures}) {
    compare(c, d, result.differences);
  }
  return result;
}

std::string policy_test_text(const std::vector<PolicyCaseResult>& results) {
  std::string text;
  std::size_t failed = 0;
  for (const PolicyCaseResult& r : results) {
    text += fmt::format("{}  {}\n", r.differences.empty() ? "ok    " : "FAILED", printable(r.name));
    if (r.differences.empty()) continue;
    ++failed;
    for (const std::string& difference : r.differences) text += wrapped("  ", difference);
    text += r.scores;
  }
  return text + fmt::format("{} passed, {} failed\n", results.size() - failed, failed);
}

bool all_passed(const std::vector<PolicyCaseResult>& results) {
  return std::all_of(results.begin(), results.end(), [](const auto& r) { return r.differences.empty(); });
}

}  // namespace poolcast
