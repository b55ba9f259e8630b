// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/compare.h"

namespace poolcast {

/// What `compare` prints.
std::string comparison_text(const Comparison& comparison);
/// The same as compare.json: full precision, members described in scenarios/comparison.md.
std::string comparison_json(const Comparison& comparison);

/// The way back of a move, as sentences: the shares in order, and what is lost.
std::vector<std::string> reverse_plan(const MoveRehearsal& move);
/// What worsens for a group, or gets better, beyond chance: "gains", "loses", "both" or "-", by TTFT p99, TPOT p99, E2E
/// p99 and goodput.
std::string who_gains(const GroupDifferences& group);

}  // namespace poolcast
