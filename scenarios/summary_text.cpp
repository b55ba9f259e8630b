// SPDX-License-Identifier: Apache-2.0
#include "scenarios/summary_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "scenarios/gate_summary.h"
#include "scenarios/human.h"
#include "scenarios/text_table.h"

namespace poolcast {

const char* title(Metric metric) {
  switch (metric) {
    case Metric::kTtft:
      return "TTFT";
    case Metric::kTpot:
      return "TPOT";
    case Metric::kItl:
      return "ITL";
    case Metric::kE2e:
      return "E2E";
    case Metric::kQueueDelay:
      return "queue delay";
    case Metric::kNtpot:
      return "NTPOT";
    case Metric::kTtftFromSent:
      return "TTFT from sent";
    case Metric::kE2eFromSent:
      return "E2E from sent";
  }
  return "";
}

namespace {

constexpr const char* kNothing = "-";

template <class T, class Show>
std::string or_dash(const std::optional<T>& value, Show show) {
  return value ? show(*value) : kNothing;
}

std::string seconds(SimTime t) { return human_seconds(to_seconds(t).value); }

std::string count(std::int64_t value) { return human_count(static_cast<std::uint64_t>(value)); }

std::string usd(Dollars value) { return human_usd(value.value); }

std::string quantile(const Histogram& h, double q) { return h.count() == 0 ? kNothing : seconds(h.quantile(q)); }

std::string head(const Summary& s) {
  // Twelve hexadecimal digits tell scenarios apart; summary.json has all of them.
  const std::string& digest = s.facts.scenario_digest;
  const std::string hex = digest.substr(digest.find(':') + 1).substr(0, 12);
  return fmt::format("poolcast {}   {}   seed {}   digest {}\n\n", s.facts.version, shortened(s.facts.scenario, 48),
                     s.facts.seed, hex);
}

std::string warnings(const Summary& s) {
  std::string text;
  for (const Note& note : s.notes) {
    if (note.warning) text += wrapped("WARNING  ", note.text);
  }
  return text.empty() ? text : text + "\n";
}

/// Two models may have classes of one name.
std::string label(const Summary& s, const GroupSummary& cls) {
  return s.models.size() > 1 ? cls.model + "/" + cls.name : cls.name;
}

void add_requests(TextTable& table, std::string name, const GroupSummary& g) {
  const Outcomes& o = g.outcomes;
  std::vector<std::string> cells = {std::move(name), human_count(o.offered), human_count(o.count(Outcome::kCompleted)),
                                    human_count(o.accepted)};
  for (int i = 1; i < kOutcomes; ++i) cells.push_back(human_count(o.ended[static_cast<std::size_t>(i)]));
  table.row(std::move(cells));
}

std::string requests(const Summary& s) {
  TextTable table({"Requests", "offered", "completed", "accepted", "rejected", "failed", "timed out", "cancelled"});
  if (s.classes.size() > 1) {
    for (const ClassSummary& c : s.classes) add_requests(table, label(s, c.group), c.group);
  }
  add_requests(table, s.classes.size() == 1 ? s.classes.front().group.name : "all", s.total);
  return table.text() + "\n";
}

std::string latency(const Summary& s) {
  TextTable table({"Latency (+-0.4 %)", "mean", "p50", "p90", "p95", "p99", "max"});
  for (int i = 0; i < kMetrics; ++i) {
    const auto metric = static_cast<Metric>(i);
    const Histogram& h = s.total.latencies[metric];
    const bool of_capped_clients = metric == Metric::kTtftFromSent || metric == Metric::kE2eFromSent;
    if (of_capped_clients && h.count() == 0) continue;
    const bool empty = h.count() == 0;
    table.row({title(metric), empty ? kNothing : human_seconds(h.mean() * 1e-9), quantile(h, 0.50), quantile(h, 0.90),
               quantile(h, 0.95), quantile(h, 0.99), empty ? kNothing : seconds(h.max())});
  }
  return table.text() + "\n";
}

std::string latency_of_classes(const Summary& s) {
  if (s.classes.size() < 2) return "";
  TextTable table({"Classes", "TTFT p50", "p99", "TPOT p50", "p99", "E2E p50", "p99", "goodput"});
  for (const ClassSummary& c : s.classes) {
    std::vector<std::string> cells = {label(s, c.group)};
    for (const Metric metric : {Metric::kTtft, Metric::kTpot, Metric::kE2e}) {
      cells.push_back(quantile(c.group.latencies[metric], 0.50));
      cells.push_back(quantile(c.group.latencies[metric], 0.99));
    }
    cells.push_back(or_dash(c.group.goodput_share, human_share));
    table.row(std::move(cells));
  }
  return table.text() + "\n";
}

/// 99.95 %: a promise of availability is told in its nines.
std::string fine_share(double share) { return fmt::format("{:.6g} %", share * 100); }

std::string objectives(const Summary& s) {
  TextTable table({"Objectives", "limit", "achieved", "share within", ""});
  bool any = false;
  for (const ClassSummary& c : s.classes) {
    if (const double promised = s.facts.classes[static_cast<std::size_t>(&c - s.classes.data())].availability;
        promised > 0) {
      any = true;
      const auto met = c.availability_met;
      table.row({label(s, c.group) + ": availability", fine_share(promised), or_dash(c.availability, fine_share),
                 kNothing,
                 !met   ? "no sample"
                 : *met ? "met"
                        : "MISSED"});
    }
    for (const ObjectiveSummary& o : c.objectives) {
      any = true;
      table.row({fmt::format("{}: {} p{}", label(s, c.group), title(o.objective.metric), o.objective.percentile),
                 seconds(o.objective.limit),
                 o.achieved ? seconds(*o.achieved)
                 : o.met    ? "never"
                            : kNothing,
                 or_dash(o.share_within, human_share),
                 !o.met   ? "no sample"
                 : *o.met ? "met"
                          : "MISSED"});
    }
  }
  return any ? table.text() + "\n" : "";
}

std::string pools(const Summary& s) {
  TextTable table({"Pools", "replicas", "requests", "TTFT p50", "p99", "TPOT p50", "p99", "goodput"});
  for (const PoolSummary& pool : s.pools) {
    const Latencies& l = pool.group.latencies;
    table.row({pool.facts.name, count(pool.facts.replicas), human_count(pool.group.outcomes.offered),
               quantile(l[Metric::kTtft], 0.50), quantile(l[Metric::kTtft], 0.99), quantile(l[Metric::kTpot], 0.50),
               quantile(l[Metric::kTpot], 0.99), or_dash(pool.group.goodput_share, human_share)});
  }
  return table.text() + "\n";
}

/// How evenly the replicas of a pool are loaded: "31-64 %".
std::string busy_range(const PoolSummary& pool) {
  if (pool.replicas.size() < 2) return kNothing;
  const auto less = [](const ReplicaUse& a, const ReplicaUse& b) { return a.busy_share < b.busy_share; };
  const auto [least, most] = std::minmax_element(pool.replicas.begin(), pool.replicas.end(), less);
  return fmt::format("{:.0f}-{:.0f} %", least->busy_share * 100, most->busy_share * 100);
}

std::string use(const Summary& s) {
  TextTable table(
      {"Use", "busy", "replicas", "batch", "max queue", "KV mean", "KV max", "hits", "preempted", "$/h", "$/M out"});
  for (const PoolSummary& pool : s.pools) {
    const ReplicaUse& u = pool.use;
    std::optional<Dollars> per_hour;
    if (pool.cost.price_per_device) {
      per_hour = Dollars(pool.cost.price_per_device->value * static_cast<double>(pool.cost.devices));
    }
    table.row({pool.facts.name, human_share(u.busy_share), busy_range(pool), or_dash(u.mean_batch, human_number),
               count(u.waiting_max), or_dash(u.kv_use_mean, human_share), or_dash(u.kv_use_max, human_share),
               or_dash(s.has_prefix_data ? u.prefix_hit_rate : std::nullopt, human_share), human_count(u.preemptions),
               or_dash(per_hour, usd), or_dash(pool.per_million_output_tokens, usd)});
  }
  return table.text() + "\n";
}

std::string rates(const Summary& s) {
  const GroupSummary& all = s.total;
  const double span = to_seconds(s.measured_end - s.measured_begin).value;
  std::string output;  // tokens and images cannot be added up
  if (s.unit) output = fmt::format(", {} output {}/s", or_dash(all.output_tokens_per_s, human_number), *s.unit);
  std::string text =
      wrapped("Throughput  ",
              fmt::format("{} requests/s, {} prompt tokens/s{} over {}", or_dash(all.requests_per_s, human_number),
                          or_dash(all.prompt_tokens_per_s, human_number), output, human_span(span)));
  text += wrapped("Goodput     ", fmt::format("{} requests/s, {} of the offered ones",
                                              or_dash(all.goodput_requests_per_s, human_number),
                                              or_dash(all.goodput_share, human_share)));
  return text;
}

std::string moves(const Summary& s) {
  std::string text;
  for (const MoveSummary& move : s.moves) text += move_text(move);
  return text;
}

std::string transfers(const Summary& s) {
  if (s.transfers == 0) return "";
  return wrapped("Transfers   ",
                 fmt::format("{} of KV between pools, {} GB in all, {} each on average", human_count(s.transfers),
                             human_number(s.transferred_bytes * 1e-9), human_seconds(s.mean_transfer_s.value_or(0))));
}

std::string costs(const Summary& s) {
  if (!s.cost.total) return "Cost        unknown: a pool has no price\n";
  const auto per_hour = Dollars(s.cost.per_hour->value);
  std::string text = fmt::format("{}/h, {} in all; {} per accepted output", usd(per_hour), usd(*s.cost.total),
                                 or_dash(s.cost.per_accepted_output, usd));
  if (s.unit) {
    text += fmt::format(", {} per million output {}, {} per million accepted ones",
                        or_dash(s.cost.per_million_output_tokens, usd), *s.unit,
                        or_dash(s.cost.per_million_accepted_tokens, usd));
  }
  return wrapped("Cost        ", text);
}

std::string curves(const Summary& s) {
  std::string text = "\nCurves\n";
  for (const PoolSummary& pool : s.pools) {
    std::string line = fmt::format("{}: {}", shortened(pool.facts.name, 48), pool.facts.curve);
    if (pool.facts.measured && pool.use.extrapolated_step_share)
      line +=
          fmt::format("; {} of the steps in the measured range", human_share(1 - *pool.use.extrapolated_step_share));
    text += wrapped("  ", line);
  }
  return text;
}

std::string notes(const Summary& s) {
  std::string text;
  for (const Note& note : s.notes) {
    if (!note.warning) text += wrapped("  - ", note.text);
  }
  return text.empty() ? text : "\nNotes\n" + text;
}

std::string engine(const Summary& s) {
  std::string warm_up;
  if (s.warm_up_requests > 0) warm_up = fmt::format("; {} requests not measured", human_count(s.warm_up_requests));
  return fmt::format("\nEngine      {} steps in {} leaps, {} events{}\n", human_count(s.steps), human_count(s.leaps),
                     human_count(s.events), warm_up);
}

/// "vllm: a; b. sglang: c": what each sentence is about stands once.
std::string left_out(const Summary& s) {
  std::string text, about;
  for (const std::string& part : s.facts.fidelity) {
    const std::string head = part.substr(0, part.find(": "));
    const bool same = head == about && head.size() < part.size();
    text += text.empty() ? part : same ? "; " + part.substr(head.size() + 2) : ". " + part;
    about = head;
  }
  return text.empty() ? text : wrapped("Left out    ", text);
}

}  // namespace

std::string summary_text(const Summary& s) {
  return head(s) + warnings(s) + requests(s) + latency(s) + latency_of_classes(s) + objectives(s) + pools(s) + use(s) +
         gates_text(s) + moves(s) + rates(s) + transfers(s) + gateway_text(s) + costs(s) + curves(s) + notes(s) +
         engine(s) + left_out(s);
}

}  // namespace poolcast
