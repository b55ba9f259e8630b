// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/ids.h"
#include "sim/schedulers/triton_args.h"
#include "sim/schedulers/triton_queue.h"
#include "sim/time.h"

namespace poolcast {

/// Triton's dynamic batcher (src/dynamic_batch_scheduler.cc, rate_limiter.cc and instance_queue.cc at 73aad7c3), apart
/// from any engine: one batcher thread fills one payload at a time; payloads go through one first-in-first-out line to
/// whichever instance is idle. A payload in the line can still grow until an instance takes it.
///
/// The thread costs no time. Of one instant the order is: instances that end take the next payload of the line, then
/// requests arrive, then the thread runs and sees all of them. Every request counts as one item of a batch, and all
/// have equal shapes. Requests have no timeout of their own, so allow_timeout_override would never be effective.
///
/// With batching off, every request is a payload of its own and goes straight to the line, as Triton does; so do the
/// sessions of ONNX Runtime.
class TritonBatcher {
 public:
  using Batch = std::vector<RequestId>;

  explicit TritonBatcher(const TritonArgs& args);

  /// A new request; false when its queue is full.
  bool enqueue(RequestId id, std::int32_t priority, SimTime now);
  /// Takes out a request that is in no payload yet; false when it is in one, where it stays.
  bool remove(RequestId id) { return queue_.remove(id); }
  /// An instance has ended its batch.
  void instance_freed(SimTime now);
  /// Lets the thread run until it sleeps.
  void run(SimTime now);
  /// When the thread runs next if nothing else happens (kNever: not before something does).
  SimTime wakes_at(SimTime now) const { return notified_ ? now : wake_; }

  /// Batches that an instance took since the caller last emptied this, in order.
  std::vector<Batch>& started() { return started_; }
  /// Requests refused because their time ran out, since the caller last emptied this.
  std::vector<RequestId>& rejected() { return rejected_; }

  /// Requests that run on no instance.
  std::int64_t waiting() const { return queue_.size() + in_line_; }
  /// Hands out everything that waits, what stands in the line first.
  std::vector<RequestId> take_all();

 private:
  /// What the thread waits for.
  enum class Sleep { kRequest, kSlot, kDelay };
  /// Where the payload that is being filled stands.
  enum class Payload { kNew, kInLine, kTaken };

  bool slot_free() const;
  SimTime gather(SimTime now);
  SimTime next_tick(SimTime from) const;
  void sleep(Sleep on, SimTime now);
  void hand_over(SimTime now);
  void feed_instances(SimTime now);
  bool preferred(std::int64_t size) const;
  std::int64_t payload_size() const {
    return payload_ == Payload::kInLine ? static_cast<std::int64_t>(line_.back().requests.size()) : 0;
  }

  struct Waiting {
    Batch requests;
    SimTime oldest = kNever;  ///< arrival of its oldest request
  };

  std::int64_t max_batch_;
  bool batching_;
  std::vector<std::int64_t> preferred_;
  SimTime delay_;
  std::int64_t instances_;
  bool prefetch_;  ///< payloads are formed ahead of idle instances
  TritonQueue queue_;
  std::deque<Waiting> line_;
  std::int64_t in_line_ = 0;  ///< requests in `line_`
  std::int64_t idle_;

  Payload payload_ = Payload::kNew;
  bool saturated_ = false;  ///< the payload takes no more
  std::int64_t next_preferred_ = 0;
  std::int64_t pending_ = 0;  ///< requests at the head of the queue that the last scan chose
  SimTime pending_oldest_ = kNever;

  Sleep sleep_ = Sleep::kRequest;
  bool notified_ = false;
  SimTime since_ = 0;      ///< when it fell asleep
  SimTime wake_ = kNever;  ///< when it wakes by itself
  std::vector<Batch> started_;
  std::vector<RequestId> rejected_;
};

}  // namespace poolcast
