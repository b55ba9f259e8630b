// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/summary.h"

namespace poolcast {

/// A summary for a terminal: plain ASCII but for the user's own names, at most kTextColumns wide, warnings first. Equal
/// summaries give equal bytes.
std::string summary_text(const Summary& summary);

/// "TTFT", "queue delay", …
const char* title(Metric metric);

}  // namespace poolcast
