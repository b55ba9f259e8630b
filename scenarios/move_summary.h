// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/move_report.h"

/// A move of traffic as readers of a run see it.
namespace poolcast {

/// What the scenario says of a move.
struct MoveFacts {
  std::string from, to;
  std::string cls;  ///< empty: every class
  std::vector<MoveStep> roll_back;
  std::optional<double> cost_margin;
  std::optional<double> threshold;    ///< of the evaluation, where there is such a gate
  std::optional<double> score_bound;  ///< the lower end of the score's interval; empty: it has no score
};

struct MoveSummary {
  MoveFacts facts;
  MoveReport report;
};

/// "TTFT p99 2.10 s, limit 1.50 s": one gate and what came of it.
std::string gate_text(const GateResult& result);
/// "completed at 40.0 s", "rolled back at 20.0 s: …".
std::string outcome_text(const MoveSummary& move);
/// A table with a line for each step, and the outcome.
std::string move_text(const MoveSummary& move);
nlohmann::ordered_json move_json(const MoveSummary& move);

/// Cached / prompt tokens; nothing where nothing was scheduled.
std::optional<double> hit_rate(const Warmth& warmth);
/// Prompt tokens that were computed though an endless cache would have had them.
std::int64_t recomputed(const Warmth& warmth);

}  // namespace poolcast
