// SPDX-License-Identifier: Apache-2.0
// Scorers of what happened of late, as a router can count it by itself.
// Sources: AIBrix e3e10f9e load-balance (PR #2365): running requests over completions of the last minute, ties by the
// use of KV; LiteLLM ef86ded8 usage-based-routing: the fewest tokens in this minute. Completions are counted when the
// next request comes; tokens are those of prompts and of the outputs asked for, when they are sent (LiteLLM: when they
// are answered).
#include <algorithm>
#include <deque>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;

class DrainRate : public Plugin, public Scorer {
 public:
  void bind(const Endpoints& endpoints) override { seen_.assign(endpoints.size(), {}); }

  void score(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    for (std::uint32_t e = 0; e < seen_.size(); ++e) count(e, endpoints.in_flight_requests[e], request.now_ns);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::uint32_t e = candidates[i];
      const double minutes = static_cast<double>(endpoints.running[e]) /
                             static_cast<double>(std::max<std::int64_t>(1, seen_[e].completed));
      scores[i] = 1 / (1 + minutes) - kTie * endpoints.kv_usage[e];
    }
  }
  void decided(const RequestView&, const Decision& decision) override {
    if (decision.endpoint) ++seen_[*decision.endpoint].in_flight;
  }

 private:
  static constexpr double kTie = 1e-9;
  struct Batch {
    std::int64_t at = 0, count = 0;
  };
  struct Seen {
    std::int64_t in_flight = 0, completed = 0;
    std::deque<Batch> batches;
  };

  void count(std::uint32_t e, std::int64_t in_flight, std::int64_t now) {
    Seen& seen = seen_[e];
    if (in_flight < seen.in_flight) {
      seen.batches.push_back({now, seen.in_flight - in_flight});
      seen.completed += seen.batches.back().count;
    }
    seen.in_flight = in_flight;
    for (; !seen.batches.empty() && seen.batches.front().at <= now - kMinute; seen.batches.pop_front()) {
      seen.completed -= seen.batches.front().count;
    }
  }

  std::vector<Seen> seen_;
};

class Usage : public Plugin, public Scorer {
 public:
  explicit Usage(const Settings& settings) : requests_(settings.text("count") == "requests") {}

  void bind(const Endpoints& endpoints) override { used_.assign(endpoints.size(), 0); }
  void score(const RequestView& request, const Endpoints&, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    if (const std::int64_t minute = request.now_ns / kMinute; minute != minute_) {
      minute_ = minute;
      std::fill(used_.begin(), used_.end(), 0);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      scores[i] = 1 / (1 + static_cast<double>(used_[candidates[i]]));
    }
  }
  void decided(const RequestView& request, const Decision& decision) override {
    if (decision.endpoint) used_[*decision.endpoint] += requests_ ? 1 : request.prompt_tokens + request.output_tokens;
  }

 private:
  bool requests_;
  std::int64_t minute_ = 0;
  std::vector<std::int64_t> used_;
};

}  // namespace

void add_rate_scorers(std::vector<PluginInfo>& table) {
  table.push_back({"drain-rate-scorer",
                   "scorer",
                   "AIBrix",
                   "1 / (1 + r / c): r running requests, c completions of the last minute (at least 1); equals by the "
                   "use of KV",
                   {},
                   make_simple<DrainRate>});
  table.push_back({"usage-scorer",
                   "scorer",
                   "LiteLLM",
                   "1 / (1 + u): u tokens, or requests, that were sent in this minute of the clock",
                   {{"count", ParameterKind::kText, "tokens", "tokens|requests", "what is counted"}},
                   make_of_settings<Usage>});
}

}  // namespace poolcast::routing
