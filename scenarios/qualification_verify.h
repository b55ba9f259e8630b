// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scenarios/catalog.h"
#include "scenarios/json_tree.h"

/// Whether a qualification record still holds.
namespace poolcast {

struct Verification {
  enum class Verdict {
    kValid,    ///< sealed, same inputs, same figures
    kStale,    ///< what it was made from is another now
    kDiffers,  ///< the same inputs give other figures than it states
    kAltered,  ///< it was changed after it was sealed
  };
  std::string record;  ///< its path
  std::string date;
  std::string result;  ///< "passed" or "failed", as it states
  bool sealed = false;
  std::vector<Change> stale;        ///< by path in `facts` or `inputs`
  bool rehearsed = false;           ///< it was run again
  std::vector<Change> differences;  ///< what the record states -> what the rehearsal gives
  std::vector<std::string> notes;

  Verdict verdict() const;
};
const char* name(Verification::Verdict verdict);  // "valid", "stale", "differs", "altered"

struct VerifyOptions {
  std::string scenario;  ///< empty: the file that the record names, in the working folder or else beside the record
  bool rehearse = true;  ///< run it again, where nothing is stale
  int threads = 0;
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// Throws ConfigError for what is no record (scenarios/qualification_record.h) and for a scenario that cannot be read.
Verification verify_record(const std::string& path, const VerifyOptions& options, const Catalog& catalog);

/// What changed in what a record binds, with what it is called: "price pools[mi300].price.reserved: $6/h -> $7/h".
std::string stale_text(const Change& change);

std::string verification_text(const Verification& verification);
nlohmann::ordered_json verification_json(const Verification& verification);

}  // namespace poolcast
