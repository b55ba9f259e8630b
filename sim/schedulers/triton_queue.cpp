// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/triton_queue.h"

#include <algorithm>

namespace poolcast {

TritonQueue::TritonQueue(const TritonArgs& args)
    : levels_(static_cast<std::size_t>(std::max<std::int64_t>(1, args.priority_levels))),
      default_level_(std::max<std::int64_t>(1, args.default_priority_level)) {
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    TritonArgs::QueuePolicy& policy = levels_[i].policy;
    policy = i < args.priority_queue_policy.size() ? args.priority_queue_policy[i] : args.default_queue_policy;
    rejects_late_ |=
        policy.default_timeout_microseconds > 0 && policy.timeout_action == TritonArgs::TimeoutAction::kReject;
  }
}

/// Without levels a request's priority is ignored; one that names no level gets the default (infer_request.cc).
std::size_t TritonQueue::level_of(std::int32_t priority) const {
  if (levels_.size() == 1) return 0;
  const auto levels = static_cast<std::int64_t>(levels_.size());
  const std::int64_t level = priority < 1 || priority > levels ? std::min(default_level_, levels) : priority;
  return static_cast<std::size_t>(level - 1);
}

bool TritonQueue::add(RequestId id, std::int32_t priority, SimTime now) {
  Level& level = levels_[level_of(priority)];
  const auto held = static_cast<std::int64_t>(level.timely.size() + level.delayed.size());
  if (level.policy.max_queue_size > 0 && held >= level.policy.max_queue_size) return false;
  const SimTime timeout = level.policy.default_timeout_microseconds * 1000;
  level.timely.push_back({id, now, timeout > 0 ? later(now, timeout) : kNever});
  ++size_;
  return true;
}

bool TritonQueue::remove(RequestId id) {
  for (Level& level : levels_) {
    for (std::deque<Entry>* queue : {&level.timely, &level.delayed}) {
      const auto found = std::find_if(queue->begin(), queue->end(), [id](const Entry& e) { return e.id == id; });
      if (found == queue->end()) continue;
      queue->erase(found);
      --size_;
      return true;
    }
  }
  return false;
}

void TritonQueue::expire(Level& level, std::size_t at, std::vector<RequestId>& rejected) {
  const Entry entry = level.timely[at];
  level.timely.erase(level.timely.begin() + static_cast<std::ptrdiff_t>(at));
  if (level.policy.timeout_action == TritonArgs::TimeoutAction::kDelay) {
    level.delayed.push_back(entry);
  } else {
    rejected.push_back(entry.id);
    --size_;
  }
}

RequestId TritonQueue::pop() {
  for (Level& level : levels_) {
    std::deque<Entry>& queue = level.timely.empty() ? level.delayed : level.timely;
    if (queue.empty()) continue;
    const RequestId id = queue.front().id;
    queue.pop_front();
    --size_;
    return id;
  }
  return {};
}

void TritonQueue::drop_expired(SimTime now, std::vector<RequestId>& rejected) {
  for (Level& level : levels_) {
    if (level.policy.timeout_action != TritonArgs::TimeoutAction::kReject) continue;
    // All have the same time allowed, so those that have run out stand in front.
    while (!level.timely.empty() && now > level.timely.front().deadline) expire(level, 0, rejected);
  }
}

void TritonQueue::take_all(std::vector<RequestId>& out) {
  while (!empty()) out.push_back(pop());
}

}  // namespace poolcast
