// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace poolcast {

/// A stretch of tokens with a known identity: its k-th token is (id, start + k). Two tokens are equal if and only if
/// both parts are.
struct Segment {
  std::uint64_t id = 0;
  std::int64_t start = 0;
  std::int64_t tokens = 0;
};

/// What the tokens of a request are, so that caches can tell a prefix which they have seen.
struct Content {
  /// The prompt in order. May be shorter than the prompt (empty: nothing is known); the rest is like no other token.
  std::vector<Segment> prompt;
  /// The i-th generated token is (output, i). 0: like no other token.
  std::uint64_t output = 0;
};

}  // namespace poolcast
