// SPDX-License-Identifier: Apache-2.0
// What Engine does with copies of requests: they load a pool, and nobody waits for them.
#include "sim/engine.h"

#include <algorithm>

#include "sim/random.h"

namespace poolcast {

/// The first try of a request may be copied. Whether it is depends on the request alone.
void Engine::copy_to_mirrors(RequestId id) {
  const auto& mirrors = spec_.routing.rules.mirrors;
  for (std::uint32_t m = 0; m < mirrors.size(); ++m) {
    const RequestRecord& r = table_.record(id);
    if (mirrors[m].from != r.pool || r.retries > 0) continue;
    const std::string stream = "mirror/" + std::to_string(m);
    if (RandomStream(spec_.seed, stream, content_id(r.source.value, r.row)).uniform() >= mirrors[m].share) continue;
    copy_to_mirror(id, m);
  }
}

void Engine::copy_to_mirror(RequestId id, std::uint32_t mirror) {
  ++mirrors_[mirror].sent;
  const PoolId to = spec_.routing.rules.mirrors[mirror].to;
  if (spec_.log != nullptr) spec_.log->copying = true;
  send_copy(id, mirror, router_.route_copy(table_.record(id), table_.content(id), to, now_));
  if (spec_.log != nullptr) spec_.log->copying = false;
}

void Engine::send_copy(RequestId id, std::uint32_t mirror, const Router::Choice& choice) {
  if (choice.refused != Reason::kNone) {
    ++mirrors_[mirror].refused;
    return;
  }
  const RequestId copy = table_.create();
  table_.content(copy) = table_.content(id);
  RequestRecord& r = table_.record(copy);
  const RequestRecord& original = table_.record(id);
  r = original;
  r.pool = choice.pool;
  r.replica = choice.replica;
  SchedulerState& s = table_.state(copy);
  s.prompt_tokens = r.prompt_tokens;
  s.end_tokens = r.prompt_tokens + r.output_target;
  s.priority = r.priority;
  s.arrival = now_;
  s.rank = table_.state(id).rank;
  s.group = static_cast<std::uint16_t>(spec_.classes.size());
  mirror_of_.resize(std::max<std::size_t>(mirror_of_.size(), copy.value + std::size_t{1}), UINT32_MAX);
  mirror_of_[copy.value] = mirror;
  router_.added(r.pool, r.replica, copy);
  change(r.replica.value).enqueue(copy, now_, events_);
}

void Engine::end_copy(RequestId id) {
  RequestRecord& r = table_.record(id);
  laws_.try_ended(table_.state(id));
  MirrorReport& report = mirrors_[mirror_of_[id.value]];
  report.cell.add(r, false);
  if (r.measured && r.outcome == Outcome::kCompleted) report.measured_tokens += r.prompt_tokens + r.output_tokens;
  mirror_of_[id.value] = UINT32_MAX;
  table_.release(id);
}

}  // namespace poolcast
