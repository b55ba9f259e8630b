// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace poolcast {

/// The share of prompt blocks that an unbounded prefix cache would hit: a block hits when the same block with all the
/// blocks before it came earlier in the trace. Memory grows with the number of different blocks.
class PrefixHits {
 public:
  void add(const std::vector<std::uint64_t>& hash_ids);

  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t hits() const { return hits_; }
  double rate() const { return blocks_ == 0 ? 0 : static_cast<double>(hits_) / static_cast<double>(blocks_); }

 private:
  std::unordered_set<std::uint64_t> seen_;  // hashes of block chains; never iterated
  std::uint64_t blocks_ = 0, hits_ = 0;
};

}  // namespace poolcast
