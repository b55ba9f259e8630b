// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/explain.h"

namespace poolcast {

/// The pools to which the gateway turned, a line each; empty where its policy chose one and that was all.
std::string way_text(const Explanation& e);

/// One line: which rule, gate, filter, score or load made the request go elsewhere in the second run. Of scores, the
/// one whose lead of the one replica over the other changed most. Empty where the log does not tell.
std::string difference_reason(const Explanation& base, const Explanation& candidate);

}  // namespace poolcast
