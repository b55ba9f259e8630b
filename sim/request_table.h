// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/content.h"
#include "sim/ids.h"
#include "sim/request.h"
#include "sim/schedulers/held_blocks.h"
#include "sim/schedulers/kv_table.h"
#include "sim/time.h"

namespace poolcast {

/// Where a request stands in its scheduler.
enum class Standing : std::uint8_t {
  kWaiting,
  kLoading,  ///< has blocks and waits for their KV from elsewhere, or to be scheduled after it came
  kPrefilling,
  kDecoding,
  kHanded,  ///< its prompt is done here; its blocks stay until the other side has them
  kGone
};

/// What a scheduler knows of a request. One record of two cache lines rather than columns: a scheduler touches most of
/// these fields together, for requests in no order of their ids.
struct alignas(64) SchedulerState {
  std::int64_t prompt_tokens = 0;
  std::int64_t end_tokens = 0;  ///< sequence length at which it ends: prompt + output, or max_model_len
  /// Sequence length (prompt and outputs). While decoding it is not kept up: it is `tokens_base` + decode clock.
  std::int64_t tokens = 0;
  std::int64_t tokens_base = 0;
  std::int64_t computed = 0;      ///< of a prefilling request: tokens in the KV cache
  std::int64_t finish_clock = 0;  ///< of a decoding request: decode clock at which it will have ended
  std::uint64_t admission = 0;    ///< ordinal of its admission: its place in the running list
  SimTime arrival = 0;            ///< ties of priority are broken by arrival, then by rank
  std::uint64_t rank = 0;
  std::int64_t dropped = 0;     ///< tokens lost by preemptions, those found again in a prefix cache included
  std::int64_t cached = 0;      ///< tokens found in a prefix cache instead of being computed, over all admissions
  std::int64_t recomputed = 0;  ///< tokens computed again after preemptions
  std::int32_t chunk = 0;       ///< tokens given to a prefilling request in the present step
  std::int32_t lost = 0;        ///< tokens lost by the last preemption
  std::uint32_t previous = UINT32_MAX, next = UINT32_MAX;  ///< running list
  std::int32_t priority = 0;
  std::int32_t preemptions = 0;
  std::int32_t remote = 0;  ///< prompt tokens whose KV another replica holds and will send; 0: none
  std::uint16_t group = 0;  ///< decoding requests are counted by group
  Standing standing = Standing::kGone;
  bool starved : 1 = false;    ///< decoding, but without a token in the present step
  bool hand_over : 1 = false;  ///< its prompt is computed here for another replica: its blocks stay when it ends
  bool lagging : 1 = false;    ///< decoding, but without a token in the last step
  bool drafted : 1 = false;    ///< has drafts to be checked (speculative decoding)
};

static_assert(sizeof(SchedulerState) == 128, "two cache lines");

/// What a client has received of a request's tokens, where they are sent several at once (MessageMeter).
struct Delivery {
  std::int64_t sent = 0;  ///< tokens
  SimTime last_message = 0;
};

/// Every request in flight, by slot. Slots are reused, so memory grows with the requests in flight only.
class RequestTable {
 public:
  RequestId create() {
    if (free_.empty()) {
      const RequestId id(states_.size());
      states_.emplace_back();
      records_.emplace_back();
      contents_.emplace_back();
      kv_.emplace_back();
      held_.emplace_back();
      deliveries_.emplace_back();
      generations_.push_back(0);
      return id;
    }
    const RequestId id = free_.back();
    free_.pop_back();
    states_[id.value] = SchedulerState{};
    deliveries_[id.value] = Delivery{};
    records_[id.value] = RequestRecord{};
    return id;
  }
  void release(RequestId id) {
    ++generations_[id.value];
    free_.push_back(id);
  }

  SchedulerState& state(RequestId id) { return states_[id.value]; }
  const SchedulerState& state(RequestId id) const { return states_[id.value]; }
  Content& content(RequestId id) { return contents_[id.value]; }
  const Content& content(RequestId id) const { return contents_[id.value]; }
  KvTable& kv(RequestId id) { return kv_[id.value]; }
  HeldBlocks& held(RequestId id) { return held_[id.value]; }
  Delivery& delivery(RequestId id) { return deliveries_[id.value]; }
  RequestRecord& record(RequestId id) { return records_[id.value]; }
  const RequestRecord& record(RequestId id) const { return records_[id.value]; }
  /// Changes when the slot is released: tells a request from a later one in the same slot.
  std::uint32_t generation(RequestId id) const { return generations_[id.value]; }
  /// Ordinals are unique over all schedulers, so that a stale one can never be mistaken for another request's.
  std::uint64_t next_admission() { return admissions_++; }

 private:
  std::vector<SchedulerState> states_;
  std::vector<RequestRecord> records_;
  std::vector<Content> contents_;
  std::vector<KvTable> kv_;
  std::vector<HeldBlocks> held_;
  std::vector<Delivery> deliveries_;
  std::vector<std::uint32_t> generations_;
  std::vector<RequestId> free_;
  std::uint64_t admissions_ = 0;
};

}  // namespace poolcast
