// SPDX-License-Identifier: Apache-2.0
// Rule: an endpoint that serves the model's adapter now, else one that has room to load it, else one that will.
// Source: llm-d's lora-affinity-scorer.
#include <algorithm>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

bool holds(const std::vector<std::uint32_t>& models, std::uint32_t model) {
  return std::find(models.begin(), models.end(), model) != models.end();
}

double score_of(const Adapters& a, std::uint32_t model) {
  if (holds(a.active, model)) return 1;
  if (static_cast<std::int64_t>(a.active.size() + a.waiting.size()) < a.max_active) return 0.8;
  return holds(a.waiting, model) ? 0.6 : 0;
}

class LoraAffinity : public Plugin, public Scorer {
 public:
  void score(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      scores[i] = endpoints.adapters.empty() ? 0 : score_of(endpoints.adapters[candidates[i]], request.model);
    }
  }
};

}  // namespace

void add_lora_affinity(std::vector<PluginInfo>& table) {
  table.push_back({"lora-affinity-scorer",
                   "scorer",
                   "llm-d",
                   "1 where the adapter is active, 0.8 with room for one more, 0.6 where it waits, else 0",
                   {},
                   make_simple<LoraAffinity>});
}

}  // namespace poolcast::routing
