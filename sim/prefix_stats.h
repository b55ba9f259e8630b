// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast {

/// What a prefix cache did, in tokens. Counted at each admission that succeeds, as vLLM's PrefixCacheStats does.
struct PrefixStats {
  std::int64_t queries = 0;          ///< tokens of admitted requests (outputs included on a resume)
  std::int64_t hits = 0;             ///< of those, found in the cache
  std::int64_t resumed_queries = 0;  ///< the share of resumed requests in both
  std::int64_t resumed_hits = 0;
  std::int64_t host_hits = 0;        ///< beside `hits`, found on the host and loaded
  std::int64_t uncomputed_hits = 0;  ///< hits on blocks that were never computed (only under fidelity: upstream)

  void count(std::int64_t tokens, std::int64_t found, bool resumed) {
    queries += tokens;
    hits += found;
    if (!resumed) return;
    resumed_queries += tokens;
    resumed_hits += found;
  }
};

}  // namespace poolcast
