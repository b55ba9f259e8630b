// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/request_table.h"
#include "sim/schedulers/vllm_args.h"

namespace poolcast {

/// The waiting queue of vLLM. FCFS: a deque; a preempted request goes back to its front. Priority: a heap ordered by
/// (priority, arrival, rank), smaller first, for new and preempted requests alike.
class WaitingQueue {
 public:
  WaitingQueue(VllmArgs::Policy policy, const RequestTable& table) : policy_(policy), table_(table) {}

  bool empty() const { return size_ == 0; }
  std::int64_t size() const { return size_; }
  RequestId front();
  void pop();
  void add(RequestId id);
  void put_back(RequestId id);  ///< after a preemption
  /// Takes a request out of the middle; it is passed over when its turn comes.
  void remove(RequestId id);

 private:
  struct Entry {
    RequestId id;
    std::uint32_t generation;
  };
  bool priority() const { return policy_ == VllmArgs::Policy::kPriority; }
  bool dead(const Entry& e) const {
    return table_.generation(e.id) != e.generation || table_.state(e.id).standing != Standing::kWaiting;
  }
  bool later(const Entry& a, const Entry& b) const;
  void drop_dead();

  VllmArgs::Policy policy_;
  const RequestTable& table_;
  std::deque<Entry> fifo_;
  std::vector<Entry> heap_;
  std::int64_t size_ = 0;
};

}  // namespace poolcast
