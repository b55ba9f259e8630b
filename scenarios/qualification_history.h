// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scenarios/catalog.h"
#include "scenarios/json_tree.h"

/// The records of a folder in order of their dates.
namespace poolcast {

/// What one record says of one implementation.
struct HistoryRow {
  std::string file, date, model, pool, artifact, result;
  std::string state;             ///< "sealed" or "altered"; with a scenario "valid", "stale" or "altered"
  std::vector<std::string> why;  ///< it is stale, or why that could not be told
  bool first = true;             ///< no earlier record is of this implementation
  std::vector<Change> since;     ///< the record before, of what concerns this implementation or all
};

struct BrokenRecord {
  std::string file, why;
};

struct History {
  std::vector<HistoryRow> rows;
  std::vector<BrokenRecord> broken;
};

/// The .json files of the folder; hidden ones are left out. `scenario`: what records are held against, without running
/// it; empty: none. Throws FileError when the folder cannot be read.
History read_history(const std::string& folder, const std::string& scenario, const Catalog& catalog);

std::string history_text(const History& history);
nlohmann::ordered_json history_json(const History& history);

}  // namespace poolcast
