// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/prefix_hits.h"

namespace poolcast {
namespace {

/// One more block on a chain (the finaliser of splitmix64 over both).
std::uint64_t extend(std::uint64_t chain, std::uint64_t id) {
  std::uint64_t z = (chain ^ id) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

void PrefixHits::add(const std::vector<std::uint64_t>& hash_ids) {
  std::uint64_t chain = 0;
  for (const std::uint64_t id : hash_ids) {
    chain = extend(chain, id);
    hits_ += seen_.insert(chain).second ? 0 : 1;  // after a new block every chain is new
  }
  blocks_ += hash_ids.size();
}

}  // namespace poolcast
