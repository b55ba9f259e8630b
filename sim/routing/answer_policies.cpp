// SPDX-License-Identifier: Apache-2.0
// Policies that go by what became of the requests that were sent before.
// Sources: LiteLLM ef86ded8 latency-based-routing (rolling mean, ttl, lowest_latency_buffer); AIBrix e3e10f9e
// least-latency and throughput (the least of the metric). Their figures are a proxy's or a poll's; here a router learns
// of an answer when it ends.
#include <algorithm>
#include <deque>
#include <limits>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;

double latency(const Answer& answer) { return static_cast<double>(answer.ended_ns - answer.sent_ns); }

class LowestLatency : public Plugin, public Filter, public Listener {
 public:
  explicit LowestLatency(const Settings& settings)
      : ttl_(static_cast<std::int64_t>(settings.number("ttl") * 1e9)),
        buffer_(settings.number("lowest_latency_buffer")),
        most_(static_cast<std::size_t>(settings.integer("max_latency_list_size"))) {}

  void bind(const Endpoints& endpoints) override { recent_.assign(endpoints.size(), {}); }
  void answered(std::uint32_t endpoint, const Answer& answer) override {
    if (!answer.completed) return;
    recent_[endpoint].push_back(answer);
    if (recent_[endpoint].size() > most_) recent_[endpoint].pop_front();
  }
  void filter(const RequestView& request, const Endpoints&, std::vector<std::uint32_t>& kept) override {
    means_.assign(recent_.size(), 0);
    double lowest = std::numeric_limits<double>::infinity();
    for (const std::uint32_t e : kept) {
      means_[e] = mean(recent_[e], request.now_ns);
      lowest = std::min(lowest, means_[e]);
    }
    std::erase_if(kept, [&](std::uint32_t e) { return means_[e] > lowest * (1 + buffer_); });
  }

 private:
  /// The sum is taken anew for every decision, so that it does not drift.
  double mean(std::deque<Answer>& recent, std::int64_t now) const {
    while (!recent.empty() && recent.front().ended_ns <= now - ttl_) recent.pop_front();
    double sum = 0;
    for (const Answer& a : recent) sum += latency(a) / static_cast<double>(std::max<std::int64_t>(1, a.output_tokens));
    return recent.empty() ? 0 : sum / static_cast<double>(recent.size());
  }

  std::int64_t ttl_;
  double buffer_;
  std::size_t most_;
  std::vector<std::deque<Answer>> recent_;
  std::vector<double> means_;
};

/// Sums are whole numbers, so they do not drift.
class AnsweredScorer : public Plugin, public Scorer, public Listener {
 public:
  explicit AnsweredScorer(const Settings& settings) : by_latency_(settings.text("metric") == "latency") {}

  void bind(const Endpoints& endpoints) override { recent_.assign(endpoints.size(), {}); }
  void answered(std::uint32_t endpoint, const Answer& answer) override {
    if (!answer.completed) return;
    recent_[endpoint].answers.push_back(answer);
    recent_[endpoint].sum += figure(answer);
  }
  void score(const RequestView& request, const Endpoints&, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      Recent& recent = recent_[candidates[i]];
      for (; !recent.answers.empty() && recent.answers.front().ended_ns <= request.now_ns - kMinute;
           recent.answers.pop_front()) {
        recent.sum -= figure(recent.answers.front());
      }
      const double sum = static_cast<double>(recent.sum);
      const double count = static_cast<double>(std::max<std::size_t>(1, recent.answers.size()));
      scores[i] = 1 / (1 + (by_latency_ ? sum / count / 1e9 : sum));
    }
  }

 private:
  struct Recent {
    std::deque<Answer> answers;
    std::int64_t sum = 0;
  };
  std::int64_t figure(const Answer& a) const {
    return by_latency_ ? a.ended_ns - a.sent_ns : a.prompt_tokens + a.output_tokens;
  }

  bool by_latency_;
  std::vector<Recent> recent_;
};

}  // namespace

void add_answer_policies(std::vector<PluginInfo>& table) {
  constexpr auto kNumber = ParameterKind::kNumber;
  table.push_back({"answered-scorer",
                   "scorer",
                   "AIBrix",
                   "1 / (1 + x): x the mean latency in seconds, or the tokens, of what completed in the last minute; "
                   "without any 1",
                   {{"metric", ParameterKind::kText, "latency", "latency|tokens", "what is compared"}},
                   make_of_settings<AnsweredScorer>});
  table.push_back(
      {"lowest-latency-filter",
       "filter",
       "LiteLLM",
       "keep endpoints whose mean latency by output token, over the last requests that completed, is at most (1 + "
       "buffer) times the lowest; one without any has 0",
       {{"lowest_latency_buffer", kNumber, "0", "[0, inf)", "share above the lowest that still counts as lowest"},
        {"max_latency_list_size", ParameterKind::kInteger, "10", "[1, 100000]", "requests that are remembered"},
        {"ttl", kNumber, "3600", "(0, 1e9]", "s after which a request is forgotten"}},
       make_of_settings<LowestLatency>});
}

}  // namespace poolcast::routing
