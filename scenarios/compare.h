// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/run_sample.h"
#include "scenarios/scenario.h"
#include "sim/paired.h"

/// Two scenarios on the same random worlds: what is worse, what is better, and whether that is enough to decide.
namespace poolcast {

/// How much worse the candidate may be. Relative to the mean of the base; of a share, in absolute terms (0.005 is half
/// a point).
struct Margin {
  Figure figure = Figure::kTtftP99;
  double most = 0;
};

/// TTFT p99, E2E p99 and cost per accepted output not worse by more than 2 %, goodput not by more than 0.5 points.
std::vector<Margin> default_margins();

/// One figure over all replications. Differences are candidate - base, of the replications in which both are finite.
struct Difference {
  Figure figure = Figure::kTtftP50;
  MeanInterval base, candidate, difference;
  std::int64_t base_endless = 0;       ///< replications in which only the base is without end
  std::int64_t candidate_endless = 0;  ///< … only the candidate
  bool exists = false;                 ///< both have it in some replication
  bool zero = true;                    ///< equal in every replication
  /// The ends of the interval over the mean of the base; nothing where that is zero.
  std::optional<double> relative(double end) const;
};

enum class GateVerdict { kPass, kFail, kUndecided, kNotJudged };

struct GateOutcome {
  Margin margin;
  GateVerdict verdict = GateVerdict::kNotJudged;
  std::optional<std::int64_t> replications_needed;  ///< of an undecided one; nothing: no number would do
  bool mean_beyond = false;                         ///< of an undecided one: its mean lies beyond the margin
};

/// How many replications would decide these gates. One that fails decides, so that of those whose mean lies beyond
/// their margin the first to be sure counts; otherwise a go needs every open one. Nothing: no number would do.
std::optional<std::int64_t> replications_to_decide(const std::vector<GateOutcome>& gates);

struct GroupDifferences {
  std::string name;
  std::uint64_t requests = 0;  ///< of the base, over all replications
  std::vector<Difference> figures;
};

/// What the moves of the candidate came to.
struct MoveRehearsal {
  MoveSummary first;                                       ///< of the first replication, which `run` shows too
  std::int64_t completed = 0, rolled_back = 0, other = 0;  ///< replications
};

enum class Verdict { kGo, kNoGo, kNotEnoughEvidence, kNoDifference };
const char* name(Verdict verdict);  // "go", "no-go", "not enough evidence", "no difference"

struct Comparison {
  std::string version, base_name, candidate_name, base_digest, candidate_digest;
  std::uint64_t seed = 0;
  std::int64_t replications = 0;
  double confidence = 0.95;
  bool same_world = true;                ///< in every replication both met the same requests at the same instants
  std::vector<GroupDifferences> groups;  ///< all, classes, tiers of prompt length that hold requests
  std::vector<GateOutcome> gates;
  std::vector<MoveRehearsal> moves;
  std::vector<std::string> notes;
  Verdict verdict = Verdict::kNotEnoughEvidence;
  std::vector<RunSample> candidate_runs;            ///< by replication
  std::optional<std::int64_t> replications_needed;  ///< where there is not enough evidence, and some number would do
};

struct CompareOptions {
  std::int64_t replications = 10;
  double confidence = 0.95;
  std::vector<Margin> margins = default_margins();
  int threads = 0;  ///< 0: as many as the machine has
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// Runs both, each replication of both with one seed derived from the base's (sim/replications.h).
///
/// A gate passes when the whole interval of its difference lies within the margin, and fails when the whole lies
/// beyond. No-go: a gate fails, or a move rolled back, or did not begin, in half of the replications or more. Go: every
/// gate passes and every move was completed in every replication. No difference: all figures of all
/// groups are equal in every replication. Else there is not enough evidence, as always with one replication.
Comparison compare(const Scenario& base, const Scenario& candidate, const CompareOptions& options);

}  // namespace poolcast
