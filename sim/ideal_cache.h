// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/content.h"
#include "sim/schedulers/radix_cache.h"

namespace poolcast {

/// A prefix cache without end and without delay that all replicas share, token by token: the most that any cache could
/// find. Its memory grows with the different prompts.
class IdealCache {
 public:
  /// A request arrives: the tokens of its prompt that came before. Notes its prompt and its output.
  std::int64_t request(const Content& content, std::int64_t prompt_tokens, std::int64_t output_tokens);

 private:
  RadixCache seen_{1, SglangArgs::Eviction::kLru};
  std::vector<Segment> tokens_;  ///< scratch
};

}  // namespace poolcast
