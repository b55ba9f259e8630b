// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/random.h"
#include "sim/routing/pipeline_trace.h"
#include "sim/routing/plugin.h"

namespace poolcast::routing {

/// A scheduling profile: filters in order, then the sum of weighted scores, then a picker. Plugins belong to the
/// caller.
class Profile {
 public:
  /// `random` puts equals in random order for pickers that go by the order (llm-d iterates over a Go map there).
  explicit Profile(RandomStream random) : random_(random) {}

  /// Takes every part that the plugin has, as llm-d does; a weight matters to scorers only. False when the profile has
  /// a picker already. `name` is for traces.
  bool add(Plugin& plugin, double weight, const std::string& name = {});
  bool has_picker() const { return picker_ != nullptr; }

  /// Chooses among `endpoints_open`. The picked endpoints, best first, are valid until the next run; empty when no
  /// endpoint is left after the filters. Allocates nothing once it has seen its largest number of endpoints.
  std::span<const std::uint32_t> run(const RequestView& request, const Endpoints& endpoints,
                                     std::span<const std::uint32_t> endpoints_open);

  /// The next runs write down how they came to their choice; null: no longer.
  void trace(PipelineTrace* trace) { trace_ = trace; }

  // What the last run came to, for explanations.
  std::span<const std::uint32_t> kept() const { return kept_; }
  /// By place in `kept`: sum over scorers, in order, of weight * (score clamped to [0, 1]).
  std::span<const double> totals() const { return totals_; }

 private:
  struct Weighted {
    Scorer* scorer;
    double weight;
    std::string name;
  };
  struct Named {
    Filter* filter;
    std::string name;
  };
  void run_filters(const RequestView& request, const Endpoints& endpoints);
  void add_scores(const RequestView& request, const Endpoints& endpoints);
  void shuffle();

  std::vector<Named> filters_;
  std::vector<Weighted> scorers_;
  Picker* picker_ = nullptr;
  std::string picker_name_;
  PipelineTrace* trace_ = nullptr;
  RandomStream random_;
  std::vector<std::uint32_t> kept_, picked_;
  std::vector<double> totals_, scores_;
};

}  // namespace poolcast::routing
