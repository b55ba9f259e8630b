// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "scenarios/traces/trace.h"

namespace poolcast {

/// Makes a row empty again, without giving up the memory of its texts and lists.
inline void reset_row(TraceRow& row, std::uint64_t line) {
  row.line = line;
  row.timestamp = Seconds(0);
  row.prompt_tokens = row.output_tokens = 0;
  row.priority = 0;
  row.has_priority = false;
  row.session = row.after_session = UINT64_MAX;
  row.think_time = Seconds(-1);
  row.hash_ids.clear();
  row.model.clear();
}

}  // namespace poolcast
