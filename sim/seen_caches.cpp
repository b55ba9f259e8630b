// SPDX-License-Identifier: Apache-2.0
#include "sim/seen_caches.h"

namespace poolcast {

SeenCaches::SeenCaches(const std::vector<std::unique_ptr<Replica>>& engines, std::uint32_t first,
                       std::uint32_t replicas, std::uint32_t ranks, std::int64_t block_size, SimTime delay)
    : delay_(delay), index_(block_size, replicas, ranks) {
  for (std::uint32_t cache = 0; cache < replicas * ranks; ++cache) {
    Replica& replica = *engines[first + cache];
    if (KvEvents* events = replica.tell_cache()) engines_.push_back({&replica, events, cache});
  }
}

routing::ExactIndex& SeenCaches::look(SimTime now) {
  for (const Engine& engine : engines_) {
    engine.replica->publish_cache(now);
    engine.events->read(now - delay_, [&](std::uint64_t block, bool stored) {
      if (stored) {
        index_.stored(engine.cache, block);
      } else {
        index_.removed(engine.cache, block);
      }
    });
  }
  return index_;
}

}  // namespace poolcast
