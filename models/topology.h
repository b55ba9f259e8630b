// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/units.h"

namespace poolcast {

/// A cable between two places: pools, switches, storage. It carries its bandwidth in each direction at once.
struct Link {
  std::uint32_t a = 0, b = 0;  ///< nodes
  BytesPerSecond bandwidth;
  Seconds latency{0};
};

/// One direction of a link: 2 * link from a to b, 2 * link + 1 from b to a.
using LinkWay = std::uint32_t;

struct Path {
  std::vector<LinkWay> ways;  ///< in order; empty: both ends are the same place
  Seconds latency{0};
  bool exists = false;
};

/// What is connected to what (Boost.Graph).
class Topology {
 public:
  std::uint32_t add_node(std::string name);
  void connect(const Link& link) { links_.push_back(link); }

  const std::vector<std::string>& nodes() const { return nodes_; }
  const std::vector<Link>& links() const { return links_; }

  /// The path that moves 64 MiB fastest when nobody else is on it, by the sum over its links of latency and of 64 MiB
  /// over bandwidth; of equal ones the same each time.
  Path path(std::uint32_t from, std::uint32_t to) const;

 private:
  std::vector<std::string> nodes_;
  std::vector<Link> links_;
};

}  // namespace poolcast
