// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/atomic_file.h"
#include "scenarios/h5_columns.h"
#include "sim/request.h"

namespace poolcast {

/// What results.h5 says of the run as a whole. Names are by id, as the columns refer to them.
struct ResultsHeader {
  std::string version;
  std::uint64_t seed = 0;
  std::string scenario_digest;
  std::vector<std::string> classes;
  std::vector<std::string> models;
  std::vector<std::string> pools;
  std::vector<std::int32_t> replicas;  ///< by pool
  /// What the contracts let an answer tell of who served it beside the pool: "artifact" and its value by pool.
  std::vector<std::pair<std::string, std::vector<std::string>>> metadata{};
  bool retries = false;  ///< some class sends requests again: the column `retries`
};

/// Writes a row for each request that ends, in that order, to an HDF5 file (described in scenarios/results.md). The
/// file appears when `finish` is called; without it nothing stays. Throws FileError when it cannot be written.
class ResultsFile : public Observer {
 public:
  static constexpr std::uint64_t kSchema = 1;

  ResultsFile(const std::string& path, const ResultsHeader& header);

  void request_ended(const RequestRecord& record) override;
  void finish();

 private:
  AtomicFile file_;  // outlives columns_, which hold the file open
  bool retries_;
  H5Columns columns_;
};

}  // namespace poolcast
