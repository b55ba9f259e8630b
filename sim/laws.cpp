// SPDX-License-Identifier: Apache-2.0
#include "sim/laws.h"

#include <string>

namespace poolcast {
namespace {

std::string number(std::int64_t n) { return std::to_string(n); }

[[noreturn]] void broken(const std::string& law, const std::string& state) {
  throw BrokenLaw("law of " + law + " broken: " + state);
}

/// Whether the instants that were reached are in order, and none is reached before one that it needs.
bool in_order(const RequestRecord& r) {
  const Instants& a = r.at;
  if (!(a.intended <= a.sent && a.sent <= r.ended)) return false;
  const SimTime chain[] = {a.sent, a.routed, a.queued, a.first_scheduled, a.first_token, a.last_token};
  // Prefill and decode apart: what comes between the first step and the first token.
  if (a.prefilled != kNever && (a.prefilled < a.first_scheduled || a.prefilled > r.ended)) return false;
  if (a.transferred != kNever && (a.prefilled == kNever || a.transferred < a.prefilled)) return false;
  if (a.transferred != kNever && a.first_token != kNever && a.first_token < a.transferred) return false;
  for (std::size_t i = 1; i < std::size(chain); ++i) {
    if (chain[i] == kNever) continue;
    if (chain[i - 1] == kNever || chain[i] < chain[i - 1] || chain[i] > r.ended) return false;
  }
  return true;
}

}  // namespace

void Laws::request_ended(const RequestRecord& r, const SchedulerState& s) {
  ++ended_;
  add_tokens(s);
  stays_ns_ += r.ended - r.at.intended;
  const bool whole = r.outcome != Outcome::kCompleted || r.at.first_token < kNever;
  if (!in_order(r) || !whole) {
    broken("causality", "request " + std::to_string(r.row) + " of source " + std::to_string(r.source.value) +
                            ": intended " + number(r.at.intended) + " sent " + number(r.at.sent) + " routed " +
                            number(r.at.routed) + " queued " + number(r.at.queued) + " first scheduled " +
                            number(r.at.first_scheduled) + " first token " + number(r.at.first_token) + " last token " +
                            number(r.at.last_token) + " ended " + number(r.ended));
  }
}

void Laws::replica_ended(const ReplicaReport& report, std::int64_t free_blocks, std::int64_t held_requests) {
  tokens_computed_ += report.scheduled_tokens;
  if (free_blocks != report.kv_blocks_usable || held_requests != 0) {
    broken("blocks", "a replica of pool " + std::to_string(report.pool.value) + " ends with " + number(free_blocks) +
                         " of " + number(report.kv_blocks_usable) + " blocks free and " + number(held_requests) +
                         " requests");
  }
}

void Laws::run_ended(const Report& report, std::uint64_t offered) const {
  if (ended_ != offered) {
    broken("requests", std::to_string(offered) + " sent, " + std::to_string(ended_) + " ended");
  }
  if (tokens_held_ != tokens_computed_) {
    broken("tokens", number(tokens_computed_) + " computed, " + number(tokens_held_) + " held or lost");
  }
  if (report.in_system_ns != stays_ns_) {
    broken("Little", "the integral of requests in the system differs from the sum of their stays by " +
                         number(static_cast<std::int64_t>(report.in_system_ns - stays_ns_)) + " request-ns");
  }
}

}  // namespace poolcast
