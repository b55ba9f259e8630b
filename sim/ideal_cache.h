// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/content.h"
#include "sim/schedulers/kv_table.h"
#include "sim/schedulers/prefix_index.h"

namespace poolcast {

/// A prefix cache without end and without delay that all replicas share: the most that any cache could find. It knows
/// full blocks; its memory grows with the different ones.
class IdealCache {
 public:
  /// A request arrives: counts the tokens of its prompt that came before, then notes its prompt and its output.
  void request(const Content& content, std::int64_t prompt_tokens, std::int64_t output_tokens,
               std::int64_t block_tokens);

  std::int64_t tokens() const { return tokens_; }  ///< of all prompts
  std::int64_t hits() const { return hits_; }      ///< of those, seen before

 private:
  std::uint64_t hash(const Content& content, std::int64_t block, std::int64_t block_tokens) {
    return chain_.hash(static_cast<std::size_t>(block), content, block_tokens);
  }

  PrefixIndex seen_;
  KvTable chain_;
  std::int64_t tokens_ = 0;
  std::int64_t hits_ = 0;
};

}  // namespace poolcast
