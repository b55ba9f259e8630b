// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/traces/lint.h"
#include "scenarios/traces/stats.h"

/// What `poolcast trace` prints. The JSON keys are described in scenarios/traces.md.
namespace poolcast {

std::string stats_text(const std::string& file, const TraceStats& stats);
std::string stats_json(const std::string& file, const TraceStats& stats);
std::string lint_text(const std::string& file, const LintReport& report);
std::string lint_json(const std::string& file, const LintReport& report);

}  // namespace poolcast
