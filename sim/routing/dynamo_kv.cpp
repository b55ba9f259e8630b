// SPDX-License-Identifier: Apache-2.0
// Dynamo's KV router. Source: ai-dynamo/dynamo docs/components/router/router-concepts.md and router-configuration.md.
//   cost     prefill_load_scale * max(active_prefill + incoming - overlap_credit * overlap, 0) + decode_blocks
//   lmetric  (active_prefill + incoming - overlap_credit * overlap, not below 0) * (decode + 1)
// in blocks; the lowest wins, and with a temperature above 0 a draw by softmax of the cost over its range.
// Here active_prefill are the prompt tokens in flight that were not believed to be cached, until a request ends
// (Dynamo: until its first token), and decode_blocks the share of the KV cache in use times its blocks, as the engine
// states it.
#include <algorithm>
#include <limits>

#include "sim/portable_math.h"
#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class DynamoKvScorer : public Plugin, public Scorer {
 public:
  explicit DynamoKvScorer(const Settings& settings)
      : credit_(settings.number("overlap_score_credit")),
        scale_(settings.number("prefill_load_scale")),
        product_(settings.text("selection_policy") == "lmetric") {}

  void score(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      scores[i] = cost(request, endpoints, candidates[i]);
      least = std::min(least, scores[i]);
      most = std::max(most, scores[i]);
    }
    for (double& score : scores) score = most > least ? (most - score) / (most - least) : 1;
  }

 private:
  double cost(const RequestView& request, const Endpoints& endpoints, std::uint32_t e) const {
    const PrefixMatch& match = endpoints.prefix[e];
    const auto block = static_cast<double>(std::max<std::int64_t>(1, match.block_size_tokens));
    const auto tokens = static_cast<double>(endpoints.in_flight_tokens[e] + request.prompt_tokens);
    const double prefill = std::max(tokens / block - credit_ * static_cast<double>(match.match_blocks), 0.0);
    if (product_) return prefill * (static_cast<double>(endpoints.running[e]) + 1);
    const double blocks = endpoints.kv_blocks.empty() ? 0 : static_cast<double>(endpoints.kv_blocks[e]);
    return scale_ * prefill + endpoints.kv_usage[e] * blocks;
  }

  double credit_, scale_;
  bool product_;
};

/// p ~ exp(score / temperature); at 0 the highest score, equals at random.
class SoftmaxPicker : public Plugin, public Picker {
 public:
  SoftmaxPicker(const Settings& settings, const BuildContext& context)
      : temperature_(settings.number("temperature")), random_(context.random) {}

  void pick(std::span<const std::uint32_t> candidates, std::span<const double> scores,
            std::vector<std::uint32_t>& picked) override {
    const double best = *std::max_element(scores.begin(), scores.end());
    weights_.clear();
    double sum = 0;
    for (const double score : scores) {
      const double weight = temperature_ > 0 ? portable_exp((score - best) / temperature_) : score == best ? 1 : 0;
      weights_.push_back(sum += weight);
    }
    const double drawn = random_.uniform() * sum;
    const auto at = std::upper_bound(weights_.begin(), weights_.end(), drawn) - weights_.begin();
    picked.assign(1, candidates[std::min<std::size_t>(static_cast<std::size_t>(at), candidates.size() - 1)]);
  }

 private:
  double temperature_;
  RandomStream random_;
  std::vector<double> weights_;  ///< summed up
};

}  // namespace

void add_dynamo_kv(std::vector<PluginInfo>& table) {
  table.push_back(
      {"dynamo-kv-scorer",
       "scorer",
       "Dynamo",
       "(max - cost) / (max - min): cost in blocks is prefill_load_scale max(tokens in flight + prompt - "
       "overlap_score_credit overlap, 0) + KV blocks in use; lmetric: the first part times (running + 1)",
       {{"overlap_score_credit", ParameterKind::kNumber, "1", "[0, inf)", "blocks that a cached block saves"},
        {"prefill_load_scale", ParameterKind::kNumber, "1", "[0, inf)", "weight of prefill against decode"},
        {"selection_policy", ParameterKind::kText, "cost", "cost|lmetric", "the sum, or the product"}},
       make_of_settings<DynamoKvScorer>});
  table.push_back({"softmax-picker",
                   "picker",
                   "Dynamo",
                   "a draw with p ~ exp(score / temperature); at 0 the highest score, equals at random",
                   {{"temperature", ParameterKind::kNumber, "0", "[0, inf)", "0: no chance but among equals"}},
                   make_of_both<SoftmaxPicker>});
}

}  // namespace poolcast::routing
