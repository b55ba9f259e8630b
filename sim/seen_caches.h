// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/replica.h"
#include "sim/routing/exact_index.h"
#include "sim/time.h"

namespace poolcast {

/// The prefix caches of a pool's replicas as its router knows them: what their engines told at least `delay` ago.
///
/// No event of the simulation belongs to it. What the steps of a run told is worked out when somebody looks.
class SeenCaches {
 public:
  /// The pool's engines, `ranks` to a replica, are those from `first` on; they outlive this. One whose kind does not
  /// tell holds nothing.
  SeenCaches(const std::vector<std::unique_ptr<Replica>>& engines, std::uint32_t first, std::uint32_t replicas,
             std::uint32_t ranks, std::int64_t block_size, SimTime delay);

  /// What is known at `now`, after the steps that end at that instant.
  routing::ExactIndex& look(SimTime now);

 private:
  struct Engine {
    Replica* replica;
    KvEvents* events;
    std::uint32_t cache;
  };
  std::vector<Engine> engines_;  ///< those that tell
  SimTime delay_;
  routing::ExactIndex index_;
};

}  // namespace poolcast
