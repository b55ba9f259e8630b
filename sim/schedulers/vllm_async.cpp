// SPDX-License-Identifier: Apache-2.0
// What VllmScheduler does under asynchronous scheduling (EngineCore.step_with_batch_queue, vllm/v1/engine/core.py).
#include <algorithm>

#include "sim/schedulers/vllm.h"

namespace poolcast {

/// A request whose end nobody knew of when the next step was planned. Its placeholders guarantee max_tokens, so it gets
/// no token there, but it keeps its slot and its blocks until then.
void VllmScheduler::linger(RequestId id, Tokens held) { lingering_.push_back({id, held}); }

/// Lets go of what ended and sees what came while the last step ran; says whether a request that waits may care.
bool VllmScheduler::catch_up() {
  const bool any = !lingering_.empty() || !came_.empty() || !landed_.empty();
  for (const Lingering& l : lingering_) let_go(l.id, l.held);
  if (!lingering_.empty()) refused_ = {};
  lingering_.clear();
  for (const RequestId id : came_) waiting_.add(id);
  came_.clear();
  loaded_.insert(loaded_.end(), landed_.begin(), landed_.end());
  landed_.clear();
  return any && waiting() > 0;
}

/// Its blocks go to another; that its last token is on its way spares it the way back to the queue.
void VllmScheduler::preempt_lingering(RequestId id) {
  const auto found =
      std::find_if(lingering_.begin(), lingering_.end(), [id](const Lingering& l) { return l.id == id; });
  const Tokens held = found->held;
  lingering_.erase(found);
  let_go(id, held);
}

}  // namespace poolcast
