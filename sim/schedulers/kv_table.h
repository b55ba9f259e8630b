// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/content.h"

namespace poolcast {

/// The KV blocks of one request by name, and the hash chain of its full blocks: two blocks have the same hash if and
/// only if their tokens and all tokens before them are the same (64 bits: among 10^7 different blocks the chance that
/// any two collide is 3 in a million).
class KvTable {
 public:
  std::vector<std::uint32_t> blocks;  ///< in order of their tokens
  std::size_t entered = 0;            ///< of those, from the front, how many count as cached

  static constexpr std::uint64_t kStart = 0x706f6f6c63617374ULL;  ///< where every chain begins

  /// Starts anew for a request. `own` names the tokens that `content` leaves out; it differs between requests. `behind`
  /// is the hash of the block before the first.
  void open(const Content& content, std::int64_t prompt_tokens, std::uint64_t own, std::uint64_t behind = kStart);
  /// Tokens from the start that another request may hold too.
  std::int64_t known() const { return known_; }
  /// Hash of full block `index`, never 0 or 1. `content` is what `open` got.
  std::uint64_t hash(std::size_t index, const Content& content, std::int64_t block_size) {
    if (hashes_.size() <= index) extend(index, content, block_size);
    return hashes_[index];
  }

 private:
  Segment next_piece(const Content& content) const;
  void extend(std::size_t index, const Content& content, std::int64_t block_size);
  void append_mixed(const Content& content, std::int64_t block_size);
  std::uint64_t last_hash() const { return hashes_.empty() ? behind_ : hashes_.back(); }
  void push(std::uint64_t hash) { hashes_.push_back(hash < 2 ? hash + 2 : hash); }

  std::vector<std::uint64_t> hashes_;
  std::int64_t prompt_ = 0;
  std::int64_t known_ = 0;
  std::uint64_t own_ = 0;
  std::uint64_t behind_ = kStart;
  std::int64_t position_ = 0;  ///< tokens hashed so far
  std::size_t segment_ = 0;    ///< of the prompt, that holds the next token
  std::int64_t in_segment_ = 0;
};

}  // namespace poolcast
