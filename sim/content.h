// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
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
  /// The i-th generated token is (output, output_start + i). 0: like no other token.
  std::uint64_t output = 0;
  std::int64_t output_start = 0;
};

/// An identity for the thing called `id` in the name space `space` (a trace file, a workload). Never 0, below 2^63; two
/// different things get the same one with a chance of 2^-62 (splitmix64's finaliser).
inline std::uint64_t content_id(std::uint64_t space, std::uint64_t id) {
  std::uint64_t z = space + (id + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return ((z ^ (z >> 31)) >> 1) | 1;
}

/// The name space that belongs to a name (FNV-1a).
inline std::uint64_t content_space(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace poolcast
