// SPDX-License-Identifier: Apache-2.0
#include "sim/event_queue.h"

#include <algorithm>

namespace poolcast {

void EventQueue::set(std::uint32_t slot, SimTime time, Phase phase) {
  const Entry entry{time, static_cast<std::uint64_t>(phase) << 32 | slot};
  std::size_t at = position_[slot];
  if (at == kAbsent) {
    at = heap_.size();
    heap_.push_back(entry);
    sift_up(at, entry);
  } else if (entry < heap_[at]) {
    sift_up(at, entry);
  } else {
    sift_down(at, entry);
  }
}

void EventQueue::remove(std::uint32_t slot) {
  const std::size_t at = position_[slot];
  if (at == kAbsent) return;
  position_[slot] = kAbsent;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (at == heap_.size()) return;
  if (at > 0 && last < heap_[(at - 1) / 4]) {
    sift_up(at, last);
  } else {
    sift_down(at, last);
  }
}

void EventQueue::sift_up(std::size_t at, const Entry& e) {
  while (at > 0) {
    const std::size_t parent = (at - 1) / 4;
    if (!(e < heap_[parent])) break;
    place(at, heap_[parent]);
    at = parent;
  }
  place(at, e);
}

void EventQueue::sift_down(std::size_t at, const Entry& e) {
  const std::size_t size = heap_.size();
  while (true) {
    const std::size_t first = 4 * at + 1;
    if (first >= size) break;
    std::size_t best = first;
    for (std::size_t child = first + 1; child < std::min(first + 4, size); ++child) {
      if (heap_[child] < heap_[best]) best = child;
    }
    if (!(heap_[best] < e)) break;
    place(at, heap_[best]);
    at = best;
  }
  place(at, e);
}

}  // namespace poolcast
