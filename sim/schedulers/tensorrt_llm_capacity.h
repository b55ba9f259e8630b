// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedulers/decode_set.h"
#include "sim/schedulers/tensorrt_llm_args.h"
#include "sim/schedulers/tensorrt_llm_blocks.h"

namespace poolcast {

/// TensorRT-LLM's CapacityScheduler (cpp/tensorrt_llm/batch_manager/capacityScheduler.cpp and its mirror in
/// _torch/pyexecutor/scheduler/scheduler.py at 002f3cc3): which of the active requests there are blocks for.
///
///  - GUARANTEED_NO_EVICT reserves the blocks of whole sequences: generations first, then prompts in order, the first
///    that does not fit ends it.
///  - STATIC_BATCH does the same, and lets prompts in only when nothing generates.
///  - MAX_UTILIZATION counts the blocks of the next step only, in order of arrival, and pauses the last started request
///    when they do not suffice. Nobody behind a paused one is looked at in that step.
///
/// A prompt whose first missing block another prompt is about to contribute is skipped for the step. (A prompt that is
/// looked at again because somebody was paused for it meets its own block there and is skipped too: as upstream.)
///
/// One more request never exceeds the limit of the batch, as no more are active.
class TrtCapacity {
 public:
  struct View {
    const RequestTable& table;
    const DecodeSet& decodes;
    TrtBlocks& kv;
    const std::vector<RequestId>& contexts;  ///< active, not generating; by arrival
    std::int64_t started;                    ///< of those, how many hold blocks
    std::uint32_t head;                      ///< of the active list (SchedulerState::next), by arrival
    std::uint32_t tail;
    std::int64_t reserved;   ///< blocks that the generating requests may still ask for
    std::int64_t lingering;  ///< blocks that ended requests would still ask for while their end is not known
  };
  struct Fit {
    RequestId id;
    bool context;
    Tokens reusable;  ///< of a context: tokens that the cache is expected to give
  };

  explicit TrtCapacity(const TensorrtLlmArgs& args) : args_(args) {}

  /// Decides with the generating requests taken as a whole: they all fit and come first, `fits` holds the contexts.
  /// False when somebody would be paused, where the order matters.
  bool decide_at_once(const View& view);
  /// The engine's own loop over the active list; `fits` holds everyone.
  void decide_in_order(const View& view);

  const std::vector<Fit>& fits() const { return fits_; }
  const std::vector<RequestId>& paused() const { return paused_; }    ///< in order
  const std::vector<RequestId>& skipped() const { return skipped_; }  ///< for the blocks of another prompt
  RequestId refused() const { return refused_; }                      ///< the context that ended it, if still active
  /// A request is no longer active; another one may get its id, here or elsewhere.
  void left(RequestId id) {
    if (refused_ == id) refused_ = {};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  using Policy = TensorrtLlmArgs::CapacityPolicy;

  void start(const View& view);
  bool skip(RequestId id, const TrtBlocks::Found& found, bool again);
  void reserve_contexts(const View& view, std::int64_t available);
  void use_in_order(const View& view);
  bool use_at_once(const View& view);
  std::int64_t step_need(const View& view, RequestId id, const TrtBlocks::Found& found) const;

  TensorrtLlmArgs args_;
  std::vector<Fit> fits_;
  std::vector<RequestId> paused_;
  std::vector<RequestId> skipped_;
  RequestId refused_;
  std::vector<std::uint64_t> awaited_;  ///< blocks that prompts are about to contribute
};

}  // namespace poolcast
