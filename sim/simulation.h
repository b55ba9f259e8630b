// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/report.h"
#include "sim/request.h"
#include "sim/spec.h"

namespace poolcast {

/// Where a long run stands, for a progress display.
struct Progress {
  SimTime now = 0;
  std::uint64_t offered = 0;
  std::uint64_t ended = 0;
  double share = -1;  ///< of the input consumed, or negative when unknown
};

/// Runs the whole simulation: until every source is exhausted and every request has ended. Takes the spec by value and
/// uses it up. Observers are called in order of the requests' ends; `progress` every few hundred thousand events.
/// Throws what a source throws.
Report simulate(SimulationSpec spec, const std::vector<Observer*>& observers = {},
                const std::function<void(const Progress&)>& progress = {});

}  // namespace poolcast
