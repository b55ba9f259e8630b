// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace poolcast::routing {

/// How one run of a profile came to its choice, for explanations. Endpoints are indices within the pool; plugins go by
/// the names that the profile was given.
struct PipelineTrace {
  struct Filtered {
    std::string plugin;
    std::vector<std::uint32_t> dropped;
  };
  struct Scored {
    std::string plugin;
    double weight = 1;
    std::vector<double> scores;  ///< by place in `kept`, as the scorer gave them: not clamped, not weighted
  };
  std::vector<std::uint32_t> open;  ///< what there was to choose from
  std::vector<Filtered> filters;    ///< in order; those after which nothing was left did not run
  std::vector<std::uint32_t> kept;  ///< by the filters, in the order of the scores
  std::vector<Scored> scorers;      ///< in order
  std::vector<double> totals;       ///< by place in `kept`
  std::string picker;
  std::vector<std::uint32_t> picked;  ///< best first

  void dropped(const std::string& plugin, const std::vector<std::uint32_t>& before,
               const std::vector<std::uint32_t>& after);
};

}  // namespace poolcast::routing
