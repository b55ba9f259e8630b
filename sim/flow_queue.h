// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/flow_spec.h"
#include "sim/ids.h"

namespace poolcast {

/// The requests that wait at the gateway for one pool: by priority, within a priority by flow, within a flow in order.
/// Whether one may go is the caller's to know.
class FlowQueue {
 public:
  struct Item {
    RequestId id;
    std::int32_t priority = 0;  ///< llm-d's: the larger the sooner
    std::uint32_t flow = 0;     ///< requests of one flow are served in order
    std::int64_t bytes = 0;
    SimTime timeout = kNever;    ///< its own, as an instant
    SimTime objective = kNever;  ///< for its first token, as an instant
  };

  explicit FlowQueue(FlowControlSpec spec) : spec_(std::move(spec)) { report_.on = true; }

  bool empty() const { return size_ == 0; }
  std::int64_t size() const { return size_; }
  /// False, and counted, where there is no room.
  bool push(const Item& item, SimTime now);
  /// Takes out the one that goes next. Not when it is empty.
  RequestId take(SimTime now);
  /// A request that waits here is given up.
  void remove(RequestId id);
  bool holds(RequestId id) const { return id.value < places_.size() && places_[id.value].waits; }

  /// When the next one expires, or kNever.
  SimTime next_expiry();
  /// Takes out the one that expires at `next_expiry`, and counts it.
  RequestId expire();

  const FlowReport& report() const { return report_; }

 private:
  using Key = std::pair<SimTime, std::uint64_t>;  ///< what the order goes by, then who came first
  struct Band {
    FlowBand spec;
    std::map<std::uint32_t, std::map<Key, RequestId>> flows;
    std::int64_t requests = 0;
    std::int64_t bytes = 0;
    std::optional<std::uint32_t> last_flow;  ///< round robin: the one served last
  };
  struct Place {
    Band* band = nullptr;
    Key key;
    SimTime entered = 0;
    std::int64_t bytes = 0;
    std::uint32_t flow = 0;
    bool waits = false;
  };

  Band& band_of(std::int32_t priority);
  SimTime order_of(const Band& band, const Item& item, SimTime now) const;
  void drop(RequestId id);

  FlowControlSpec spec_;
  std::map<std::int32_t, Band, std::greater<>> bands_;      ///< the most urgent first
  std::vector<Place> places_;                               ///< by RequestId
  std::deque<std::pair<std::uint64_t, RequestId>> by_age_;  ///< some may have left
  std::int64_t size_ = 0;
  std::int64_t bytes_ = 0;
  std::uint64_t came_ = 0;
  FlowReport report_;
};

}  // namespace poolcast
