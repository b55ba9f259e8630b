// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/replica.h"
#include "sim/schedulers/triton_batcher.h"

namespace poolcast {

/// An engine that answers in one pass and does not step: Triton's dynamic batcher in front of N instances, or N
/// sessions of ONNX Runtime that run one request each.
///
/// A batch is one prefill of all its requests, each padded to the longest of them; its time is the curve's for that
/// shape, as many times as a request has passes (its tokens are counted once). A request starts with its batch and gets
/// its whole answer at the end of it: first and last token are one instant, whatever number of output units it asked
/// for. Instances of Triton do not slow each other down; sessions share the cores of the replica (session_speed.h).
///
/// A request that is timed out or cancelled leaves at once while it is in no batch, else at the end of its batch, which
/// computes it all the same. (Triton drops a cancelled one when it comes across it; until then it fills the queue.)
class BatchReplica final : public Replica {
 public:
  BatchReplica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, const TritonArgs& args, RequestTable& table);
  BatchReplica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, const SessionArgs& args, RequestTable& table);

  void enqueue(RequestId id, SimTime now, EventQueue& events) override;
  bool abort(RequestId id, SimTime now, EventQueue& events) override;
  void start_step(SimTime now, EventQueue& events) override;
  const std::vector<RequestId>& end_step(SimTime now, EventQueue& events) override;
  std::vector<RequestId> give_up(EventQueue& events) override;

  std::int64_t waiting() const override { return batcher_.waiting(); }
  std::int64_t running() const override { return running_; }
  SimTime busy(SimTime now) const override;
  std::int64_t instances() const override { return instances_; }
  bool full() const override;
  const ReplicaReport& report() override;
  std::int64_t free_blocks() const override { return 0; }

 private:
  /// A batch on an instance, or one whose answers are held back.
  struct Running {
    std::vector<RequestId> requests;
    SimTime start = 0;
    SimTime end = kNever;
    double left_s = 0;  ///< at `since`, at full speed
    SimTime since = 0;
    bool done = false;
  };

  void start_batches(SimTime now);
  void start(std::vector<RequestId>& requests, SimTime now);
  void share_cores(SimTime now);
  void release(SimTime now);
  void complete(const Running& batch, SimTime now);
  void refuse(RequestId id, Reason reason);
  void refuse_late();
  void set_event(SimTime now, EventQueue& events);

  std::uint32_t slot_;
  const PoolSpec& pool_;
  RequestTable& table_;
  const SessionArgs* sessions_ = nullptr;  ///< null: instances of Triton
  bool preserve_ordering_;
  std::int64_t instances_;
  std::int64_t max_running_;
  std::int64_t passes_;
  bool passes_by_output_;
  TritonBatcher batcher_;
  std::deque<Running> batches_;       ///< by start
  std::vector<PrefillChunk> chunks_;  ///< scratch
  std::vector<RequestId> refused_;    ///< not handed out yet
  std::vector<RequestId> left_;
  std::int64_t active_ = 0;   ///< batches that run
  std::int64_t running_ = 0;  ///< requests that run or whose answer is held back
  double speed_ = 1;          ///< of every session that runs
  SimTime busy_ = 0;          ///< summed over instances
  ReplicaReport report_;
};

}  // namespace poolcast
