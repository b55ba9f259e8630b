// SPDX-License-Identifier: Apache-2.0
// Source: llm-d's flow control with fcfs-, edf- and slo-deadline-ordering-policy, global-strict- and
// round-robin-fairness-policy.
#include "sim/flow_queue.h"

#include <algorithm>

namespace poolcast {

FlowQueue::Band& FlowQueue::band_of(std::int32_t priority) {
  const auto [place, fresh] = bands_.try_emplace(priority);
  if (fresh) {
    const auto stated = std::find_if(spec_.bands.begin(), spec_.bands.end(),
                                     [&](const FlowBand& band) { return band.priority == priority; });
    place->second.spec = stated != spec_.bands.end() ? *stated : priority < 0 ? spec_.other_negative : spec_.other;
  }
  return place->second;
}

SimTime FlowQueue::order_of(const Band& band, const Item& item, SimTime now) const {
  switch (band.spec.order) {
    case FlowOrder::kFcfs:
      return 0;
    case FlowOrder::kEdf:
      return std::min(later(now, spec_.ttl), item.timeout);
    case FlowOrder::kSloDeadline:
      return item.objective;
  }
  return 0;
}

bool FlowQueue::push(const Item& item, SimTime now) {
  Band& band = band_of(item.priority);
  const bool room = size_ < spec_.max_requests && bytes_ + item.bytes <= spec_.max_bytes &&
                    band.requests < band.spec.max_requests && band.bytes + item.bytes <= band.spec.max_bytes;
  if (!room) {
    ++report_.found_full;
    return false;
  }
  if (places_.size() <= item.id.value) places_.resize(item.id.value + 1);
  const Key key(order_of(band, item, now), came_++);
  places_[item.id.value] = {&band, key, now, item.bytes, item.flow, true};
  band.flows[item.flow].emplace(key, item.id);
  ++band.requests;
  band.bytes += item.bytes;
  bytes_ += item.bytes;
  if (spec_.ttl != kNever) by_age_.emplace_back(key.second, item.id);
  report_.longest = std::max(report_.longest, ++size_);
  ++report_.came;
  return true;
}

RequestId FlowQueue::take(SimTime now) {
  const auto place = std::find_if(bands_.begin(), bands_.end(), [](const auto& b) { return b.second.requests > 0; });
  Band& band = place->second;
  auto flow = band.flows.begin();
  if (band.spec.fairness == FlowFairness::kRoundRobin) {
    if (band.last_flow) flow = band.flows.upper_bound(*band.last_flow);
    if (flow == band.flows.end()) flow = band.flows.begin();
    band.last_flow = flow->first;
  } else {
    for (auto other = band.flows.begin(); other != band.flows.end(); ++other) {
      if (other->second.begin()->first < flow->second.begin()->first) flow = other;
    }
  }
  const RequestId id = flow->second.begin()->second;
  const SimTime wait = now - places_[id.value].entered;
  ++report_.dispatched;
  report_.wait += wait;
  report_.longest_wait = std::max(report_.longest_wait, wait);
  drop(id);
  return id;
}

void FlowQueue::remove(RequestId id) {
  ++report_.given_up;
  drop(id);
}

void FlowQueue::drop(RequestId id) {
  Place& place = places_[id.value];
  Band& band = *place.band;
  const auto flow = band.flows.find(place.flow);
  flow->second.erase(place.key);
  if (flow->second.empty()) band.flows.erase(flow);
  --band.requests;
  band.bytes -= place.bytes;
  bytes_ -= place.bytes;
  --size_;
  place.waits = false;
}

SimTime FlowQueue::next_expiry() {
  while (!by_age_.empty()) {
    const auto& [number, id] = by_age_.front();
    const Place& place = places_[id.value];
    if (place.waits && place.key.second == number) return later(place.entered, spec_.ttl);
    by_age_.pop_front();
  }
  return kNever;
}

RequestId FlowQueue::expire() {
  const RequestId id = by_age_.front().second;
  ++report_.expired;
  drop(id);
  return id;
}

}  // namespace poolcast
