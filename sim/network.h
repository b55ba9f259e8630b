// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/topology.h"
#include "sim/time.h"

namespace poolcast {

/// Transfers over the links of a topology. Transfers that share a link share it max-min fairly: nobody can get more
/// without taking from somebody who has no more than he (Bertsekas, Gallager: Data Networks, 6.5.2). A transfer is
/// there when its last byte has left and the path's latency has passed.
class Network {
 public:
  explicit Network(const Topology& topology) : links_(topology.links()) {}

  void start(std::uint64_t id, const Path& path, double bytes, SimTime now);
  /// Takes a transfer off; false when it is not under way.
  bool cancel(std::uint64_t id, SimTime now);

  /// When the next transfer is there; kNever when none is under way.
  SimTime next() const;
  /// Those that are there by now, in order of their arrival, then of their start.
  const std::vector<std::uint64_t>& arrived(SimTime now);

  std::int64_t transfers() const { return transfers_; }
  double bytes() const { return bytes_; }  ///< of all transfers so far

 private:
  struct Flow {
    std::uint64_t id = 0;
    std::vector<LinkWay> ways;
    double left = 0;  ///< bytes
    double rate = 0;  ///< bytes per second
    SimTime latency = 0;
    SimTime sent = kNever;  ///< the last byte leaves
  };
  struct Landing {
    SimTime at = 0;
    std::uint64_t id = 0;
  };

  void advance(SimTime now);
  void share();

  const std::vector<Link>& links_;
  std::vector<Flow> flows_;        ///< by their start
  std::vector<Landing> landings_;  ///< sent, on their way; by their start
  std::vector<std::uint64_t> arrived_;
  SimTime at_ = 0;  ///< to which `left` belongs
  std::int64_t transfers_ = 0;
  double bytes_ = 0;
};

}  // namespace poolcast
