// SPDX-License-Identifier: Apache-2.0
// Rule: a session goes where it went before. Source: llm-d's session-affinity-scorer and -filter, which carry the
// endpoint's name in the header x-session-token; here the router remembers it.
#include <algorithm>
#include <unordered_map>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class SessionMemory : public Plugin {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void decided(const RequestView& request, const Decision& decision) override {
    if (request.session != RequestView::kNoSession && decision.endpoint) last_[request.session] = *decision.endpoint;
  }

 protected:
  std::uint32_t last_of(const RequestView& request) const {
    if (request.session == RequestView::kNoSession) return kNone;
    const auto place = last_.find(request.session);
    return place == last_.end() ? kNone : place->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> last_;  ///< looked up, never walked
};

class SessionScorer : public SessionMemory, public Scorer {
 public:
  void score(const RequestView& request, const Endpoints&, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    const std::uint32_t last = last_of(request);
    for (std::size_t i = 0; i < candidates.size(); ++i) scores[i] = candidates[i] == last ? 1 : 0;
  }
};

class SessionFilter : public SessionMemory, public Filter {
 public:
  void filter(const RequestView& request, const Endpoints&, std::vector<std::uint32_t>& kept) override {
    const std::uint32_t last = last_of(request);
    if (std::find(kept.begin(), kept.end(), last) != kept.end()) kept.assign(1, last);
  }
};

}  // namespace

void add_session_affinity(std::vector<PluginInfo>& table) {
  table.push_back({"session-affinity-scorer",
                   "scorer",
                   "llm-d",
                   "1 for the endpoint that had the session's last request, else 0",
                   {},
                   make_simple<SessionScorer>});
  table.push_back({"session-affinity-filter",
                   "filter",
                   "llm-d",
                   "keep only the endpoint that had the session's last request, while it is among those left",
                   {},
                   make_simple<SessionFilter>});
}

}  // namespace poolcast::routing
