// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/explain.h"

namespace poolcast {

/// For a terminal. Instants are from when the request was sent.
std::string explanation_text(const Explanation& explanation);
std::string difference_text(const ExplainedDifference& difference);

/// The same, whole and with full precision: instants in ns on the clock of the run; scenarios/explain.md has the keys.
std::string explanation_json(const Explanation& explanation);
std::string difference_json(const ExplainedDifference& difference);

}  // namespace poolcast
