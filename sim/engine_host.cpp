// SPDX-License-Identifier: Apache-2.0
// What Engine does with KV that replicas keep on their hosts. Each has a link of its own, which its loads share.
#include "sim/engine.h"

namespace poolcast {

void Engine::connect_hosts() {
  for (const auto& replica : replicas_) {
    const BytesPerSecond bandwidth = spec_.pools[replica->report().pool.value].host_bandwidth;
    Path path;
    if (bandwidth.value > 0) {
      const std::uint32_t host = host_links_.add_node("host"), device = host_links_.add_node("device");
      path.ways = {static_cast<LinkWay>(2 * host_links_.links().size())};
      path.exists = true;
      host_links_.connect({host, device, bandwidth, Seconds(0)});
    }
    host_paths_.push_back(std::move(path));
  }
}

void Engine::start_host_load(std::uint32_t replica, const StepPlan::Load& load) {
  const PoolSpec& pool = spec_.pools[table_.record(load.id).pool.value];
  const double bytes = static_cast<double>(load.tokens) * pool.kv_bytes_per_token;
  host_network_.start(load.id.value, host_paths_[replica], bytes, now_);
  host_load_time_ -= now_;
  schedule_host_network();
}

void Engine::land_host_loads() {
  for (const std::uint64_t slot : host_network_.arrived(now_)) {
    const RequestId id(static_cast<std::uint32_t>(slot));
    host_load_time_ += now_;
    change(table_.record(id).replica.value).loaded(id, now_, events_);
  }
  schedule_host_network();
}

/// A request leaves that may still be waiting for a load.
void Engine::drop_host_load(RequestId id) {
  if (host_network_.next() == kNever || !host_network_.cancel(id.value, now_)) return;
  host_load_time_ += now_;
  schedule_host_network();
}

void Engine::schedule_host_network() {
  const SimTime next = host_network_.next();
  if (next == kNever) {
    events_.remove(host_slot());
  } else {
    events_.set(host_slot(), next, Phase::kTransfer);
  }
}

}  // namespace poolcast
