// SPDX-License-Identifier: Apache-2.0
// Endpoints by a key of the request: the same key goes to the same endpoint.
// Sources: production-stack a6c01db0 (session: a ring of hashes; no key: the lowest rate of requests), smg 73da68ca
// (consistent_hashing, prefix_hash, manual), AIBrix e3e10f9e (session-affinity). The key is the session; what their
// hash functions give differs from ours, so that which endpoint a key has is another one, not how keys spread and move.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "sim/content.h"
#include "sim/routing/hash_ring.h"
#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;

void mark(std::span<const std::uint32_t> candidates, std::uint32_t chosen, std::span<double> scores) {
  for (std::size_t i = 0; i < candidates.size(); ++i) scores[i] = candidates[i] == chosen ? 1 : 0;
}

/// The lower the value the higher the score; equals score alike.
void lowest_first(std::span<double> scores) {
  for (double& score : scores) score = 1 / (1 + score);
}

class SessionRing : public Plugin, public Scorer {
 public:
  explicit SessionRing(const Settings& settings) : by_rate_(settings.text("withoutKey") == "lowest-rate") {}

  void bind(const Endpoints& endpoints) override {
    ring_.build(endpoints.size());
    sent_.assign(endpoints.size(), {});
  }
  void score(const RequestView& request, const Endpoints&, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    if (request.session != RequestView::kNoSession)
      return mark(candidates, ring_.owner(request.session, candidates), scores);
    for (std::size_t i = 0; i < candidates.size(); ++i)
      scores[i] = by_rate_ ? recent(candidates[i], request.now_ns) : 0;
    lowest_first(scores);
  }
  void decided(const RequestView& request, const Decision& decision) override {
    if (by_rate_ && decision.endpoint) sent_[*decision.endpoint].push_back(request.now_ns);
  }

 private:
  /// Requests of the last minute: production-stack's --request-stats-window.
  double recent(std::uint32_t endpoint, std::int64_t now) {
    auto& times = sent_[endpoint];
    while (!times.empty() && times.front() <= now - 60 * kNanos) times.pop_front();
    return static_cast<double>(times.size());
  }

  bool by_rate_;
  HashRing ring_;
  std::vector<std::deque<std::int64_t>> sent_;
};

class PrefixHash : public Plugin, public Scorer {
 public:
  PrefixHash(const Settings& settings, const BuildContext& context)
      : tokens_(settings.integer("prefix_token_count")),
        factor_(settings.number("load_factor")),
        random_(context.random) {}

  void bind(const Endpoints& endpoints) override { ring_.build(endpoints.size()); }
  void score(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    double sum = 0;
    for (const std::uint32_t e : candidates) sum += static_cast<double>(endpoints.in_flight_requests[e]);
    const double most = factor_ * sum / static_cast<double>(candidates.size());
    const std::uint32_t chosen = ring_.owner(key_of(request), candidates, [&](std::uint32_t e) {
      return static_cast<double>(endpoints.in_flight_requests[e]) <= most;
    });
    mark(candidates, chosen, scores);
  }

 private:
  /// The name of the first blocks; a prompt that is like no other has a key of its own.
  std::uint64_t key_of(const RequestView& request) {
    if (request.blocks.empty()) return random_.next();
    const auto whole = static_cast<std::size_t>(std::max<std::int64_t>(1, tokens_ / request.block_tokens));
    return request.blocks[std::min(whole, request.blocks.size()) - 1];
  }

  std::int64_t tokens_;
  double factor_;
  RandomStream random_;
  HashRing ring_;
};

class StickySession : public Plugin, public Scorer {
 public:
  explicit StickySession(const Settings& settings)
      : mode_(settings.text("assignment_mode")), idle_ns_(settings.integer("max_idle_secs") * kNanos) {}

  void bind(const Endpoints& endpoints) override { keys_.assign(endpoints.size(), 0); }
  void score(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    const auto place = places_.find(request.session);
    if (request.session != RequestView::kNoSession && place != places_.end() &&
        request.now_ns - place->second.last_ns <= idle_ns_ &&
        std::find(candidates.begin(), candidates.end(), place->second.endpoint) != candidates.end()) {
      return mark(candidates, place->second.endpoint, scores);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) scores[i] = load(endpoints, candidates[i]);
    lowest_first(scores);
  }
  void decided(const RequestView& request, const Decision& decision) override {
    if (request.session == RequestView::kNoSession || !decision.endpoint) return;
    const auto [place, is_new] = places_.try_emplace(request.session, Place{});
    if (!is_new) --keys_[place->second.endpoint];
    ++keys_[*decision.endpoint];
    place->second = {*decision.endpoint, request.now_ns};
  }

 private:
  struct Place {
    std::uint32_t endpoint = 0;
    std::int64_t last_ns = 0;
  };
  double load(const Endpoints& endpoints, std::uint32_t e) const {
    if (mode_ == "min_load") return static_cast<double>(endpoints.in_flight_requests[e]);
    return mode_ == "min_group" ? static_cast<double>(keys_[e]) : 0;
  }

  std::string mode_;
  std::int64_t idle_ns_;
  std::unordered_map<std::uint64_t, Place> places_;  ///< looked up, never walked
  std::vector<std::int64_t> keys_;                   ///< that an endpoint has
};

}  // namespace

void add_hash_policies(std::vector<PluginInfo>& table) {
  table.push_back({"session-ring-scorer",
                   "scorer",
                   "production-stack, smg",
                   "1 for the endpoint that owns the session on a ring of hashes, else 0",
                   {{"withoutKey", ParameterKind::kText, "lowest-rate", "lowest-rate|random",
                     "requests without a session: to the fewest requests of the last minute, or to any"}},
                   make_of_settings<SessionRing>});
  table.push_back({"prefix-hash-scorer",
                   "scorer",
                   "smg",
                   "1 for the first endpoint on a ring, from the hash of the prompt's first tokens on, whose requests "
                   "in flight are at most load_factor times the mean; else 0",
                   {{"prefix_token_count", ParameterKind::kInteger, "256", "[1, inf)",
                     "tokens that are hashed, in whole blocks of the prefix index"},
                    {"load_factor", ParameterKind::kNumber, "1.25", "[1, inf)", "most load over the mean"}},
                   make_of_both<PrefixHash>});
  table.push_back({"sticky-session-scorer",
                   "scorer",
                   "smg, AIBrix",
                   "1 for the endpoint that has the session, else 0; a session without one gets one by assignment_mode",
                   {{"assignment_mode", ParameterKind::kText, "random", "random|min_load|min_group",
                     "any, the fewest requests in flight, or the fewest sessions"},
                    {"max_idle_secs", ParameterKind::kInteger, "14400", "[0, 1000000000]",
                     "a session that was idle for longer is assigned anew"}},
                   make_of_settings<StickySession>});
}

}  // namespace poolcast::routing
