// SPDX-License-Identifier: Apache-2.0
#include "sim/message_meter.h"

#include <algorithm>

namespace poolcast {

void MessageMeter::produced(RequestId id, std::int64_t outputs, SimTime now, bool last) {
  Delivery& d = table_.delivery(id);
  if (d.sent > 0 && !last && outputs - d.sent < interval_) return;
  message(id, outputs, now);
}

void MessageMeter::leave(RequestId id) {
  std::erase_if(members_, [id](const Member& m) { return m.id == id; });
}

void MessageMeter::undo(RequestId id) {
  const auto found = std::find_if(members_.begin(), members_.end(), [id](const Member& m) { return m.id == id; });
  if (found != members_.end()) found->undone = true;
}

void MessageMeter::send(const std::function<SimTime(std::int64_t back)>& end_of) {
  for (Member& m : members_) {
    Delivery& d = table_.delivery(m.id);
    const std::int64_t got = m.outputs - m.undone;
    while (d.sent + interval_ <= got) {
      const std::int64_t next = d.sent + interval_;
      message(m.id, next, end_of(m.outputs - next));
    }
    if (m.ended && !m.undone && d.sent < got) message(m.id, got, end_of(0));
    m.ended |= m.undone;
  }
  std::erase_if(members_, [](const Member& m) { return m.ended; });
}

void MessageMeter::message(RequestId id, std::int64_t outputs, SimTime now) {
  Delivery& d = table_.delivery(id);
  Histogram* const histogram = gaps_[table_.state(id).group];
  if (d.sent > 0 && histogram) histogram->add(now - d.last_message);
  d.sent = outputs;
  d.last_message = now;
}

}  // namespace poolcast
