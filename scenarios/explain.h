// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/summary.h"
#include "sim/decision_log.h"
#include "sim/simulation.h"

namespace poolcast {

/// Which request of which run. Source and row are the columns of those names in results.h5.
struct ExplainOptions {
  std::string scenario;                ///< path of the file
  std::vector<std::string> overrides;  ///< `path.to.key=value`
  std::uint32_t source = 0;
  std::uint64_t row = 0;
};

/// What became of one request and why.
struct Explanation {
  RunFacts facts;
  RequestRecord request;
  DecisionLog log;
};

using ExplainProgress = std::function<void(const Progress&)>;

/// Runs the scenario until the request has ended. Throws ConfigError when there is no such request.
Explanation explain(const ExplainOptions& options, const ExplainProgress& progress = {});

/// Two runs of the same requests.
struct ExplainedDifference {
  std::uint64_t requests = 0;   ///< that both runs had
  std::uint64_t elsewhere = 0;  ///< of those, to another pool or replica (by name and number) or refused in one only
  std::uint64_t unpaired = 0;   ///< that only one of them had
  struct First {
    Explanation base, candidate;
  };
  std::optional<First> first;  ///< of the requests that went elsewhere, the one that was intended first
};

/// Runs both scenarios whole, then explains the first request that went elsewhere.
ExplainedDifference explain_difference(const ExplainOptions& base, const ExplainOptions& candidate,
                                       const ExplainProgress& progress = {});

}  // namespace poolcast
