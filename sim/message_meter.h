// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/histogram.h"
#include "sim/request_table.h"

namespace poolcast {

/// Gaps between messages where a replica sends its tokens several at once: the first and the last token of a request go
/// out as they come, the others when `interval` of them have gathered (vllm/v1/engine/output_processor.py; SGLang's
/// rule, outputs mod interval = 1, is the same). A client sees messages, so ITL is the gap between them.
///
/// Requests that decode are members; in a step, or a run of alike steps, each gets one token per step.
class MessageMeter {
 public:
  /// `gaps`: by group, null = not measured.
  MessageMeter(std::int64_t interval, RequestTable& table, const std::vector<Histogram*>& gaps)
      : interval_(interval), table_(table), gaps_(gaps) {}

  bool bundles() const { return interval_ > 1; }

  /// A request that decodes no longer, or does not decode as a member yet, has `outputs` tokens at `now`.
  void produced(RequestId id, std::int64_t outputs, SimTime now, bool last);
  void join(RequestId id) { members_.push_back({id, 0, false}); }
  void leave(RequestId id);

  /// Notes how far the members are when a run of steps has ended: `outputs(id)`, and whether it still `decodes`.
  template <class Outputs, class Decodes>
  void note(Outputs outputs, Decodes decodes) {
    for (Member& m : members_) {
      m.outputs = outputs(m.id);
      m.ended = !decodes(m.id);
    }
  }
  /// The last token of a member is thrown away.
  void undo(RequestId id);
  /// Counts the messages of that run, whose step `steps - back` ended at `end_of(back)`; members that ended leave.
  void send(const std::function<SimTime(std::int64_t back)>& end_of);
  void clear() { members_.clear(); }

 private:
  struct Member {
    RequestId id;
    std::int64_t outputs;
    bool ended;
    bool undone = false;
  };

  void message(RequestId id, std::int64_t outputs, SimTime now);

  std::int64_t interval_;
  RequestTable& table_;
  const std::vector<Histogram*>& gaps_;
  std::vector<Member> members_;
};

}  // namespace poolcast
