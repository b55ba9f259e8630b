// SPDX-License-Identifier: Apache-2.0
// What VllmScheduler does for outputs that others may have in their prompts: they are cached when it matters.
#include "sim/schedulers/vllm.h"

namespace poolcast {

/// Puts what decoding requests have produced so far into the cache, the present step (or the first `steps` of the
/// planned run) included, where others may ask for it.
void VllmScheduler::settle_outputs(std::int64_t steps) {
  for (const Lingering& l : lingering_) {
    if (table_.content(l.id).output != 0) kv_.settle(l.id, l.held - 1);  // its last step is not known of yet
  }
  if (quotable_ == 0) return;
  for_each_running([&](RequestId id, Tokens done, Tokens n) {
    const bool decoding = table_.state(id).standing == Standing::kDecoding;
    if (decoding && table_.content(id).output != 0) kv_.settle(id, n > 0 ? known(done + steps - 1) : done);
  });
}

bool VllmScheduler::tell_cache(KvEvents* events) {
  kv_.tell(events);
  return true;
}

void VllmScheduler::settle_cache(std::int64_t steps) {
  if (!kv_.caches()) return;
  if (steps > 1) begun(steps);
  settle_outputs(steps);
}

/// Blocks are taken where a request's tokens fill whole blocks before the step, and enter the cache where they do so
/// after it; of a step planned ahead the last token is not known yet.
bool VllmScheduler::changes_cache(std::int64_t step) const {
  if (!kv_.caches()) return false;
  return decodes_.new_blocks(step - 1) > 0 ||
         (quotable_ > 0 && !args_.async_scheduling && decodes_.new_blocks(step) > 0);
}

/// Whether a decoding request is about to produce the block that the request of the last lookup missed first.
bool VllmScheduler::may_find_more() {
  if (quotable_ == 0) return false;
  bool any = false;
  for_each_running([&](RequestId id, Tokens done, Tokens n) {
    const bool decoding = table_.state(id).standing == Standing::kDecoding;
    any = any || (decoding && table_.content(id).output != 0 && kv_.continued_by(id, n > 0 ? known(done) : done));
  });
  return any;
}

void VllmScheduler::start_decoding(RequestId id) {
  decodes_.join(id);
  if (kv_.caches()) quotable_ += table_.content(id).output != 0;
}

void VllmScheduler::stop_decoding(RequestId id) {
  decodes_.leave(id);
  if (kv_.caches()) quotable_ -= table_.content(id).output != 0;
}

}  // namespace poolcast
