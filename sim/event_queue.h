// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/time.h"

namespace poolcast {

/// The order of events at one instant, and why.
enum class Phase : std::uint8_t {
  kStepEnd,  ///< first: tokens that exist at this instant exist for everything below, and what finished frees its place
  kDeadline,   ///< a token that comes exactly at a deadline is in time
  kTransfer,   ///< KV that comes exactly at a step boundary, like …
  kMove,       ///< a share of traffic changes before the requests of that instant are routed
  kDispatch,   ///< what waits at the gateway goes before what comes anew, and is in time exactly when it would expire
  kArrival,    ///< … a request that comes exactly at a step boundary …
  kRetry,      ///< what is sent again comes behind what is new
  kStepStart,  ///< … can still be scheduled by the step that starts there
};

/// Pending events, at most one per slot, ordered by (time, phase, slot).
///
/// Every source of events (a replica, a workload source, a deadline queue) owns one slot for the whole run. The slot
/// number takes the place of a running sequence number: the order of simultaneous events then depends on the scenario
/// alone, not on how many events led there, which the equality of leaps and single steps needs.
///
/// A 4-ary heap with the position of each slot, so that an event can be moved in O(log slots).
class EventQueue {
 public:
  struct Event {
    SimTime time;
    Phase phase;
    std::uint32_t slot;
  };

  explicit EventQueue(std::size_t slots) : position_(slots, kAbsent) { heap_.reserve(slots); }

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Event top() const { return {heap_[0].time, static_cast<Phase>(heap_[0].order >> 32), slot_of(heap_[0])}; }
  bool pending(std::uint32_t slot) const { return position_[slot] != kAbsent; }

  /// The loop says which event it handles from now on.
  void handles(const Event& event) { handled_ = event; }
  /// Whether a step of this replica that ends at the present instant has yet to end: what is handled is the end of
  /// another one's step, which comes first.
  bool ends_later(std::uint32_t slot) const { return handled_.phase == Phase::kStepEnd && handled_.slot < slot; }

  /// Sets the event of a slot, whether or not it had one.
  void set(std::uint32_t slot, SimTime time, Phase phase);
  /// Removes the event of a slot if it has one.
  void remove(std::uint32_t slot);

 private:
  struct Entry {
    SimTime time;
    std::uint64_t order;  // phase << 32 | slot
    bool operator<(const Entry& other) const { return time != other.time ? time < other.time : order < other.order; }
  };
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  static std::uint32_t slot_of(const Entry& e) { return static_cast<std::uint32_t>(e.order); }
  void place(std::size_t at, const Entry& e) {
    heap_[at] = e;
    position_[slot_of(e)] = static_cast<std::uint32_t>(at);
  }
  void sift_up(std::size_t at, const Entry& e);
  void sift_down(std::size_t at, const Entry& e);

  std::vector<Entry> heap_;
  Event handled_{0, Phase::kStepStart, 0};
  std::vector<std::uint32_t> position_;
};

}  // namespace poolcast
