// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scenarios/catalog.h"
#include "scenarios/compare.h"

/// Evidence that what a scenario states was rehearsed: which artifact, evaluated how, on which software, met which
/// objectives, moved by which policy. A record is an in-toto Statement; scenarios/qualification.md describes it.
namespace poolcast {

/// A bound on a figure of all requests: at most so much, of goodput at least so much. Seconds, shares, dollars.
struct FigureLimit {
  Figure figure = Figure::kCost;
  double value = 0;
};

struct QualifyOptions {
  std::string scenario;                ///< path of the file
  std::vector<std::string> overrides;  ///< `path.to.key=value`
  std::string date;                    ///< "2026-11-30"; stated in the record, part of no result
  std::int64_t replications = 10;
  double confidence = 0.95;
  std::vector<Margin> margins = default_margins();  ///< of a move, against no move; the gate `cost` of a move sets its
  std::vector<FigureLimit> limits;
  int threads = 0;
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// Runs the rehearsal, which is `replications` runs of the scenario, or `compare` of it without and with the moves that
/// it states, and gives the sealed record. Throws ConfigError for a scenario that cannot be read or built.
nlohmann::ordered_json qualify(const QualifyOptions& options, const Catalog& catalog);

/// The margins of a comparison of this scenario: the moves' own gates on cost take the place of the default.
std::vector<Margin> margins_of(const Scenario& scenario);

/// What people read: result, checks, figures, reverse plan.
std::string qualification_text(const nlohmann::ordered_json& record);

}  // namespace poolcast
