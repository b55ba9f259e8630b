// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/content.h"
#include "sim/routing/block_holders.h"
#include "sim/routing/endpoints.h"
#include "sim/schedulers/hash_index.h"
#include "sim/schedulers/kv_table.h"

namespace poolcast::routing {

/// What a router believes to lie in the prefix caches of its endpoints: the blocks of the prompts that it sent there,
/// the least recently sent ones forgotten first. It never hears of evictions, so it can be wrong both ways.
/// Source: llm-d's approx-prefix-cache-producer.
class PrefixIndex {
 public:
  struct Options {
    bool auto_tune = true;  ///< the engine's own block size takes the place of `block_size`
    std::int64_t block_size = 16;
    std::int64_t most_blocks = 2048;    ///< of a prompt, that are looked at
    std::int64_t most_tokens = 131072;  ///< the same in tokens
    std::int64_t capacity = 31250;      ///< blocks remembered for an endpoint
  };

  PrefixIndex(const Options& options, std::size_t endpoints);

  /// Writes to `matches`, by endpoint, how many blocks of this prompt each was sent before. The walk ends at the first
  /// block that no endpoint has; an endpoint that lost an early block still counts its later ones, as in llm-d.
  void look_up(const Content& content, std::int64_t prompt_tokens, std::vector<PrefixMatch>& matches);
  /// Of the last look-up: the endpoints with a match, and the blocks of the prompt.
  std::span<const std::uint32_t> found() const { return found_; }
  std::span<const std::uint64_t> present() const { return present_; }
  std::int64_t block_size() const { return options_.block_size; }
  /// A prompt of these blocks goes to `endpoint`.
  void add(std::uint32_t endpoint, std::span<const std::uint64_t> blocks);
  void add(std::uint32_t endpoint) { add(endpoint, present_); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// A block that an endpoint was sent: a place in that endpoint's list, newest at the front.
  struct Sent {
    std::uint64_t hash = 0;
    std::uint32_t endpoint = 0;
    std::uint32_t newer = kNone, older = kNone;
  };
  struct List {
    std::uint32_t newest = kNone, oldest = kNone;
    std::int64_t size = 0;
  };

  void add_block(std::uint64_t hash, std::uint32_t endpoint);
  void forget_oldest(List& list);
  void unlink(List& list, std::uint32_t at);
  void push_front(List& list, std::uint32_t at);
  std::uint32_t find_sent(std::uint64_t hash, std::uint32_t endpoint) const;

  Options options_;
  std::vector<List> lists_;  ///< by endpoint
  std::vector<Sent> sent_;
  std::vector<std::uint32_t> free_sent_;
  HashIndex sent_by_key_;  ///< by hash and endpoint
  BlockHolders holders_;
  KvTable table_;                       ///< hashes of the present prompt
  std::vector<std::uint64_t> present_;  ///< those that were looked at
  std::vector<std::uint32_t> found_;
  std::uint64_t prompts_ = 0;
};

}  // namespace poolcast::routing
