// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/waiting_queue.h"

#include <algorithm>
#include <tuple>

namespace poolcast {

bool WaitingQueue::later(const Entry& a, const Entry& b) const {
  const SchedulerState& x = table_.state(a.id);
  const SchedulerState& y = table_.state(b.id);
  return std::tie(x.priority, x.arrival, x.rank) > std::tie(y.priority, y.arrival, y.rank);
}

void WaitingQueue::add(RequestId id) {
  const Entry entry{id, table_.generation(id)};
  ++size_;
  if (!priority()) {
    fifo_.push_back(entry);
    return;
  }
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), [this](const Entry& a, const Entry& b) { return later(a, b); });
}

void WaitingQueue::put_back(RequestId id) {
  if (priority()) return add(id);
  fifo_.push_front({id, table_.generation(id)});
  ++size_;
}

RequestId WaitingQueue::front() {
  drop_dead();
  return priority() ? heap_.front().id : fifo_.front().id;
}

void WaitingQueue::pop() {
  drop_dead();
  --size_;
  if (!priority()) {
    fifo_.pop_front();
    return;
  }
  std::pop_heap(heap_.begin(), heap_.end(), [this](const Entry& a, const Entry& b) { return later(a, b); });
  heap_.pop_back();
}

void WaitingQueue::remove(RequestId id) {
  --size_;
  if (!priority()) {  // the entry is passed over later: its request no longer waits
    if (size_ == 0) fifo_.clear();
    return;
  }
  // A dead entry would be compared by a state that no longer exists, so the heap loses it at once.
  std::erase_if(heap_, [id](const Entry& e) { return e.id == id; });
  std::make_heap(heap_.begin(), heap_.end(), [this](const Entry& a, const Entry& b) { return later(a, b); });
}

void WaitingQueue::drop_dead() {
  if (priority()) return;
  while (dead(fifo_.front())) fifo_.pop_front();
}

}  // namespace poolcast
