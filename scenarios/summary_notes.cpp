// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "scenarios/human.h"
#include "scenarios/summary.h"

namespace poolcast {
namespace {

/// "1 row", "12 rows".
std::string plural(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", human_count(count), noun, count == 1 ? "" : "s");
}

/// "1 row was", "12 rows were".
std::string was(std::uint64_t count, const char* noun) { return plural(count, noun) + (count == 1 ? " was" : " were"); }

/// "120 rejected (queue_full 100, kv_capacity 20), 3 timed out".
std::string unfinished(const Outcomes& outcomes) {
  std::string text;
  for (int i = 1; i < kOutcomes; ++i) {
    const std::uint64_t count = outcomes.ended[static_cast<std::size_t>(i)];
    if (count == 0) continue;
    std::string word = name(static_cast<Outcome>(i));
    std::replace(word.begin(), word.end(), '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", human_count(count), word);
  }
  std::string why;
  for (int i = 1; i < kReasons; ++i) {
    const std::uint64_t count = outcomes.reasons[static_cast<std::size_t>(i)];
    if (count > 0) {
      why += fmt::format("{}{} {}", why.empty() ? "" : ", ", name(static_cast<Reason>(i)), human_count(count));
    }
  }
  return why.empty() ? text : fmt::format("{} (reasons: {})", text, why);
}

std::string not_stationary(const Summary& s) {
  return fmt::format(
      "The run is not stationary: requests arrive faster than they are served (backlog growth {} requests/s), so "
      "latencies depend on how long the run is.",
      human_number(std::max(0.0, s.backlog_growth_per_s)));
}

std::string extrapolated(const Summary& s) {
  std::string pools;
  for (const PoolSummary& pool : s.pools) {
    if (pool.use.extrapolated_step_share.value_or(0) == 0) continue;
    pools += fmt::format("{}{} {}", pools.empty() ? "" : ", ", pool.facts.name,
                         human_share(*pool.use.extrapolated_step_share));
  }
  return fmt::format(
      "Results are extrapolated: {} of the steps lie outside the range that their curve was measured on ({}).",
      human_share(*s.extrapolated_step_share), pools);
}

std::string stalled(const Summary& s) {
  std::string pools;
  for (const PoolSummary& pool : s.pools) {
    if (pool.use.stalled) pools += (pools.empty() ? "" : ", ") + pool.facts.name;
  }
  return fmt::format("{} stopped, having made no progress any more (pool {}); the requests there failed.",
                     was(s.stalled_replicas, "replica"), pools);
}

void add_warnings(const Summary& s, std::vector<Note>& notes) {
  const auto warn = [&](std::string text) { notes.push_back({true, std::move(text)}); };
  const Outcomes& o = s.total.outcomes;
  if (o.offered == 0) {
    warn(s.warm_up_requests == 0 ? "The workload brought no requests."
                                 : "No request was measured: the warm-up or the window leaves none.");
  }
  if (o.offered > 0 && o.count(Outcome::kCompleted) < o.offered) {
    const std::uint64_t missing = o.offered - o.count(Outcome::kCompleted);
    warn(fmt::format("{} of the requests did not complete: {}. Latencies are those of the completed ones.",
                     human_share(static_cast<double>(missing) / static_cast<double>(o.offered)), unfinished(o)));
  }
  if (!s.stationary) warn(not_stationary(s));
  if (s.stalled_replicas > 0) warn(stalled(s));
  if (s.extrapolated_step_share.value_or(0) > 0) warn(extrapolated(s));
}

/// What the prefix caches found, beside the most that could be found.
std::string prefixes(const Summary& s) {
  if (!s.has_prefix_data) {
    return "No prefix data: the workload does not say which prompts share a prefix, so none is found in a cache.";
  }
  std::string pools;
  for (const PoolSummary& pool : s.pools) {
    if (!pools.empty()) pools += ", ";
    pools += pool.facts.name + " " + (pool.use.prefix_hit_rate ? human_share(*pool.use.prefix_hit_rate) : "no cache");
  }
  return fmt::format("Prefix hits, of all prompt tokens: {}; an endless cache shared by all replicas would find {}.",
                     pools, human_share(s.ideal_hit_rate.value_or(0)));
}

std::string host_hits(const Summary& s) {
  std::string pools;
  for (const PoolSummary& pool : s.pools) {
    if (pool.use.host_hit_tokens == 0) continue;
    const auto queries = static_cast<double>(pool.use.prefix_query_tokens);
    pools += fmt::format("{}{} {}", pools.empty() ? "" : ", ", pool.facts.name,
                         human_share(static_cast<double>(pool.use.host_hit_tokens) / queries));
  }
  return fmt::format("Loaded from hosts, of all prompt tokens: {}, in {} of {} each on average.", pools,
                     plural(s.host_loads, "load"), human_seconds(s.mean_host_load_s.value_or(0)));
}

/// What became of requests in the queue before a pool.
std::string flow_control(const PoolSummary& pool) {
  const FlowReport& flow = pool.flow;
  std::string text = fmt::format("Pool {}: its flow control held up to {}", pool.facts.name,
                                 plural(static_cast<std::uint64_t>(flow.longest), "request"));
  if (flow.dispatched > 0) {
    const auto count = static_cast<double>(flow.dispatched);
    text += fmt::format("; those let go waited {} on average and {} at most",
                        human_seconds(to_seconds(flow.wait).value / count),
                        human_seconds(to_seconds(flow.longest_wait).value));
  }
  const std::pair<std::uint64_t, const char*> ends[] = {
      {flow.expired, "expired"}, {flow.found_full, "found it full"}, {flow.given_up, "were given up"}};
  for (const auto& [count, what] : ends) {
    if (count > 0) text += fmt::format("; {} {}", human_count(count), what);
  }
  return text + ".";
}

void add_notes(const Summary& s, std::vector<Note>& notes) {
  const auto note = [&](std::string text) { notes.push_back({false, std::move(text)}); };
  const std::uint64_t completed = s.total.outcomes.count(Outcome::kCompleted);
  if (completed > 0 && completed < 100) {
    note(fmt::format("Only {} measured: p99 is the slowest request.", plural(completed, "completed request")));
  }
  for (const PoolSummary& pool : s.pools) {
    if (pool.use.recompute_tax.value_or(0) < 0.01) continue;
    note(fmt::format("Pool {}: {} of its tokens were computed again after {}; its KV cache is short for this load.",
                     pool.facts.name, human_share(*pool.use.recompute_tax),
                     plural(pool.use.preemptions, "preemption")));
  }
  for (const PoolSummary& pool : s.pools) {
    if (pool.use.compiled_programs == 0) continue;
    note(fmt::format("Pool {}: requests waited while {} compiled.", pool.facts.name,
                     was(static_cast<std::uint64_t>(pool.use.compiled_programs), "program")));
  }
  for (const PoolSummary& pool : s.pools) {
    if (pool.use.drafted_tokens == 0) continue;
    note(fmt::format(
        "Pool {}: {} of the drafts were accepted, which makes {} tokens a step and request.", pool.facts.name,
        human_share(static_cast<double>(pool.use.accepted_draft_tokens) / static_cast<double>(pool.use.drafted_tokens)),
        human_number(*pool.use.tokens_per_check)));
  }
  for (const PoolSummary& pool : s.pools) {
    for (const auto& [what, times] : pool.use.departures) {
      note(fmt::format("Pool {}: {} {}.", pool.facts.name, human_count(static_cast<std::uint64_t>(times)), what));
    }
  }
  for (const PoolSummary& pool : s.pools) {
    if (pool.use.padding_waste.value_or(0) < 0.5) continue;
    note(fmt::format("Pool {}: {} of what it computed only filled shapes.", pool.facts.name,
                     human_share(*pool.use.padding_waste)));
  }
  for (const PoolSummary& pool : s.pools) {
    if (!pool.use.bubble_share) continue;
    note(fmt::format("Pool {}: a pipeline stage stands idle for {} of the time of a step, on average (the bubble).",
                     pool.facts.name, human_share(*pool.use.bubble_share)));
  }
  if (s.skipped_rows > 0) {
    note(fmt::format("{} left out of the workload: not usable.", was(s.skipped_rows, "row")));
  }
  if (s.unsent_requests > 0) {
    note(fmt::format("{} never sent: a session ends with a turn that does not complete.",
                     was(s.unsent_requests, "turn")));
  }
  if (s.truncated_requests > 0) {
    note(fmt::format("{} longer than the limits and cut to them.", was(s.truncated_requests, "request")));
  }
  for (const PoolSummary& pool : s.pools) {
    if (pool.flow.on) note(flow_control(pool));
  }
  note(prefixes(s));
  if (s.host_loads > 0) note(host_hits(s));
  if (s.warm_up_requests > 0) {
    note("Busy share, batch, queue, KV use and preemptions are of the whole run, what is not measured included.");
  }
  for (const PoolSummary& pool : s.pools) {
    if (!pool.facts.price_per_device) note(fmt::format("No cost in total: pool {} has no price.", pool.facts.name));
  }
}

}  // namespace

std::vector<Note> notes_of(const Summary& summary, const std::vector<std::string>& notes_of_engine) {
  std::vector<Note> notes;
  add_warnings(summary, notes);
  add_notes(summary, notes);
  for (const auto* more : {&notes_of_engine, &summary.facts.notes}) {
    for (const std::string& text : *more) notes.push_back({false, text});
  }
  return notes;
}

}  // namespace poolcast
