// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/content.h"
#include "sim/routing/block_holders.h"
#include "sim/routing/endpoints.h"
#include "sim/schedulers/kv_table.h"

namespace poolcast::routing {

/// What lies in the prefix caches of endpoints, as their engines told. An endpoint may have several engines
/// (data-parallel ranks), each with a cache of its own; it counts as the one that holds most of a prompt.
/// Source: llm-d's precise-prefix-cache-producer; a match is the longest run of cached blocks from the first one on.
class ExactIndex {
 public:
  /// Blocks of `block_size` tokens; cache c belongs to endpoint c / `caches_by_endpoint`.
  ExactIndex(std::int64_t block_size, std::size_t endpoints, std::uint32_t caches_by_endpoint);

  void stored(std::uint32_t cache, std::uint64_t block) { holders_.add(block, cache); }
  void removed(std::uint32_t cache, std::uint64_t block) { holders_.remove(block, cache); }

  /// Writes to `matches`, by endpoint, how many blocks of this prompt it holds.
  void look_up(const Content& content, std::int64_t prompt_tokens, std::vector<PrefixMatch>& matches);
  /// Of the last look-up: the endpoints with a match, and the names of the prompt's blocks.
  std::span<const std::uint32_t> found() const { return found_; }
  std::span<const std::uint64_t> present() const { return present_; }
  std::int64_t block_size() const { return block_size_; }

 private:
  std::int64_t block_size_;
  std::uint32_t caches_by_endpoint_;
  BlockHolders holders_;
  KvTable table_;  ///< hashes of the present prompt
  std::vector<std::uint64_t> present_;
  std::vector<std::uint32_t> found_;
  std::vector<std::int64_t> length_;   ///< by cache: of the chain so far
  std::vector<std::uint32_t> chains_;  ///< caches whose chain is not empty
  std::uint64_t prompts_ = 0;
};

}  // namespace poolcast::routing
