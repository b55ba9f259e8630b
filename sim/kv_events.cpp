// SPDX-License-Identifier: Apache-2.0
#include "sim/kv_events.h"

namespace poolcast {

// Out of line, so that caches whose events nobody wants to know stay small code.
void KvEvents::stored(std::uint64_t block) { events_.push_back({kNever, block, true}); }

void KvEvents::removed(std::uint64_t block) { events_.push_back({kNever, block, false}); }

}  // namespace poolcast
