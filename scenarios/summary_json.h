// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/summary.h"

namespace poolcast {

/// The content of summary.json (design §14; described in scenarios/summary.md). Equal summaries give equal bytes.
std::string summary_json(const Summary& summary);

}  // namespace poolcast
