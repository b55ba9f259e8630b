// SPDX-License-Identifier: Apache-2.0
// Source: llm-d's max-score-picker (shuffle, then a stable sort: exact ties are equally likely), random-picker,
// weighted-random-picker (Efraimidis, Spirakis, "Weighted random sampling with a reservoir", 2006: key U^(1/w)).
#include <algorithm>
#include <limits>
#include <utility>

#include "sim/portable_math.h"
#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

std::size_t how_many(const Settings& settings) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, settings.integer("maxNumOfEndpoints")));
}

/// Puts the first `count` places of `items` in random order, each item equally likely at each.
template <class T>
void shuffle_front(std::vector<T>& items, std::size_t count, RandomStream& random) {
  for (std::size_t i = 0; i < count && i + 1 < items.size(); ++i) {
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  }
}

class RandomPicker : public Plugin, public Picker {
 public:
  RandomPicker(const Settings& settings, const BuildContext& context)
      : count_(how_many(settings)), random_(context.random) {}

  void pick(std::span<const std::uint32_t> candidates, std::span<const double>,
            std::vector<std::uint32_t>& picked) override {
    picked.assign(candidates.begin(), candidates.end());
    shuffle_front(picked, count_, random_);
    picked.resize(std::min(count_, picked.size()));
  }

 private:
  std::size_t count_;
  RandomStream random_;
};

struct Ranked {
  double key;
  std::uint32_t endpoint;
};

void take_best(std::vector<Ranked>& ranked, std::size_t count, std::vector<std::uint32_t>& picked) {
  picked.clear();
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) {
    // The earliest of the best moves to the front, the others keep their order.
    const auto place = ranked.begin() + static_cast<std::ptrdiff_t>(i);
    const auto best =
        std::max_element(place, ranked.end(), [](const Ranked& a, const Ranked& b) { return a.key < b.key; });
    std::rotate(place, best, best + 1);
    picked.push_back(ranked[i].endpoint);
  }
}

class MaxScorePicker : public Plugin, public Picker {
 public:
  MaxScorePicker(const Settings& settings, const BuildContext& context)
      : count_(how_many(settings)), random_(context.random) {}

  void pick(std::span<const std::uint32_t> candidates, std::span<const double> scores,
            std::vector<std::uint32_t>& picked) override {
    if (count_ == 1) return pick_one(candidates, scores, picked);
    ranked_.clear();
    for (std::size_t i = 0; i < candidates.size(); ++i) ranked_.push_back({scores[i], candidates[i]});
    shuffle_front(ranked_, ranked_.size(), random_);
    take_best(ranked_, count_, picked);
  }

 private:
  /// The same distribution as shuffling first, with one draw.
  void pick_one(std::span<const std::uint32_t> candidates, std::span<const double> scores,
                std::vector<std::uint32_t>& picked) {
    picked.clear();
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (scores[i] < best) continue;
      if (scores[i] > best) picked.clear();
      best = scores[i];
      picked.push_back(candidates[i]);
    }
    if (picked.size() > 1) picked[0] = picked[random_.below(picked.size())];
    picked.resize(1);
  }

  std::size_t count_;
  RandomStream random_;
  std::vector<Ranked> ranked_;
};

class WeightedRandomPicker : public Plugin, public Picker {
 public:
  WeightedRandomPicker(const Settings& settings, const BuildContext& context)
      : count_(how_many(settings)), random_(context.random) {}

  bool takes_order() const override { return true; }

  void pick(std::span<const std::uint32_t> candidates, std::span<const double> scores,
            std::vector<std::uint32_t>& picked) override {
    const bool any = std::any_of(scores.begin(), scores.end(), [](double s) { return s > 0; });
    if (!any) {
      picked.assign(candidates.begin(), candidates.end());
      shuffle_front(picked, count_, random_);
      picked.resize(std::min(count_, picked.size()));
      return;
    }
    ranked_.clear();
    for (std::size_t i = 0; i < candidates.size(); ++i) ranked_.push_back({key_of(scores[i]), candidates[i]});
    take_best(ranked_, count_, picked);
  }

 private:
  /// The logarithm of U^(1/w), which sorts alike. Where the power itself falls below the least double it is 0, as is
  /// the key of a weight of 0 or below: equals, in order of the candidates.
  double key_of(double weight) {
    constexpr double kUnderflow = -745.1332191019412;
    constexpr double kZero = -std::numeric_limits<double>::infinity();
    if (weight <= 0) return kZero;
    const double key = portable_log(random_.uniform()) / weight;
    return key < kUnderflow ? kZero : key;
  }

  std::size_t count_;
  RandomStream random_;
  std::vector<Ranked> ranked_;
};

}  // namespace

void add_pickers(std::vector<PluginInfo>& table) {
  const std::vector<ParameterInfo> parameters = {
      {"maxNumOfEndpoints", ParameterKind::kInteger, "1", "", "endpoints picked, best first; below 1: 1"}};
  table.push_back({"max-score-picker", "picker", "llm-d", "the highest total; exact ties are equally likely",
                   parameters, make_of_both<MaxScorePicker>});
  table.push_back({"random-picker", "picker", "llm-d", "any endpoint left, equally likely", parameters,
                   make_of_both<RandomPicker>});
  table.push_back(
      {"weighted-random-picker", "picker", "llm-d",
       "the largest U^(1/total), U uniform: in proportion to the totals while the power does not underflow; "
       "no total above 0: equally likely",
       parameters, make_of_both<WeightedRandomPicker>});
}

}  // namespace poolcast::routing
