// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/build.h"
#include "sim/move_report.h"
#include "sim/request.h"

/// What `compare` keeps of one run: exact figures, for all requests and for groups of them.
namespace poolcast {

/// Percentiles are over all measured requests, one that did not complete counting as one without end; TPOT over the
/// completed ones of two tokens or more. The cost is that of all reserved capacity per accepted output.
enum class Figure { kTtftP50, kTtftP99, kTpotP50, kTpotP99, kE2eP50, kE2eP99, kGoodput, kErrorRate, kCost };
inline constexpr int kFigures = 9;
const char* name(Figure figure);   // "ttft.p99", …, "goodput", "error_rate", "cost": as options spell them
const char* title(Figure figure);  // "TTFT p99", …
inline bool is_share(Figure f) { return f == Figure::kGoodput || f == Figure::kErrorRate; }
inline bool more_is_better(Figure f) { return f == Figure::kGoodput; }

/// Seconds, shares or dollars; infinity: without end; nothing: no sample, or no price.
struct Figures {
  std::uint64_t requests = 0;
  std::array<std::optional<double>, kFigures> value;
};

/// How one objective of a class fared in one run: seconds, infinity without end, nothing without a sample.
struct ObjectiveSample {
  std::optional<double> achieved_s;
  std::optional<double> share_within;
};

/// Groups: all requests, then each class in the order of the scenario, then tiers by length of the prompt.
struct RunSample {
  std::vector<Figures> groups;
  std::uint64_t world = 0;  ///< a digest of what was asked for and when: equal in two runs that met the same requests
  std::vector<MoveReport> moves;
  std::vector<ObjectiveSample> objectives;  ///< of each class in turn, in the order of the scenario
  double extrapolated_step_share = 0;       ///< of the steps of measured curves, outside their range
  bool stationary = true;
};

/// Upper ends of the tiers, in prompt tokens; the last tier has none.
inline constexpr std::array<std::int64_t, 4> kTierEnds = {512, 2048, 8192, 32768};
/// The names of all groups, in order: "all", those of classes, "<= 512", … of prompt tokens.
std::vector<std::string> group_names(const RunFacts& facts);

/// Runs it to its end.
RunSample sample_run(BuiltScenario built);

/// Runs `replications` of every scenario: replication k of all of them with one seed, derived from that of the first
/// (sim/replications.h). By scenario, then by replication; `threads` 0: as many as the machine has.
std::vector<std::vector<RunSample>> sample_replications(
    const std::vector<const Scenario*>& scenarios, std::int64_t replications, int threads,
    const std::function<void(std::int64_t done, std::int64_t all)>& progress = {});

}  // namespace poolcast
