// SPDX-License-Identifier: Apache-2.0
#include "sim/quotas.h"

namespace poolcast {

bool Quotas::applies(const QuotaSpec& spec, const RequestRecord& request) {
  return (!spec.model.valid() || spec.model == request.model) && (!spec.cls.valid() || spec.cls == request.cls);
}

void Quotas::advance(State& state, SimTime now) {
  const std::int64_t interval = now / state.spec.per;
  if (interval == state.interval) return;
  state.interval = interval;
  state.used = 0;
}

namespace {

/// To be turned away is stricter than to go to another model, and that than to go to another tier.
bool stricter(QuotaSpec::Beyond a, QuotaSpec::Beyond b) {
  using Beyond = QuotaSpec::Beyond;
  return b != Beyond::kReject && a != b && a != Beyond::kNextTier;
}

}  // namespace

Quotas::Verdict Quotas::arrived(const RequestRecord& request, SimTime now) {
  Verdict verdict;
  for (State& state : states_) {
    if (!applies(state.spec, request)) continue;
    advance(state, now);
    const bool beyond = state.used >= state.spec.limit;
    ++(beyond ? state.report.beyond : state.report.passed);
    if (!beyond || state.spec.shadow) continue;
    if (!verdict.beyond || stricter(state.spec.beyond, verdict.what)) verdict = {true, state.spec.beyond};
  }
  if (verdict.beyond && verdict.what == QuotaSpec::Beyond::kReject) return verdict;
  for (State& state : states_) {
    if (!state.spec.counts_tokens && applies(state.spec, request)) ++state.used;
  }
  return verdict;
}

void Quotas::ended(const RequestRecord& request, SimTime now) {
  const std::int64_t tokens = request.prompt_tokens + request.output_tokens;
  for (State& state : states_) {
    if (!state.spec.counts_tokens || !applies(state.spec, request)) continue;
    advance(state, now);
    state.used += tokens;
    state.report.tokens += tokens;
  }
}

std::vector<QuotaReport> Quotas::report() const {
  std::vector<QuotaReport> reports;
  for (const State& state : states_) reports.push_back(state.report);
  return reports;
}

}  // namespace poolcast
