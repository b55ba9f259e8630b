// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/alias_table.h"
#include "sim/content.h"
#include "sim/random.h"
#include "sim/workload.h"

namespace poolcast {

/// Draws the prefix that a request or a session shares with others.
class SharedPrefixes {
 public:
  SharedPrefixes(const SharedPrefixSpec& spec, std::uint64_t seed, const std::string& stream_name);

  bool any() const { return !tokens_.empty(); }
  /// The prefix of request or session `index`; of no tokens when nothing is shared.
  Segment draw(std::uint64_t index) const;
  /// Puts the prefix of request `index` before its prompt.
  void add(Arrival& arrival, std::uint64_t index) const;

 private:
  std::uint64_t seed_;
  std::string stream_;
  std::uint64_t space_;
  std::vector<std::int64_t> tokens_;  ///< by group
  AliasTable groups_;
};

}  // namespace poolcast
