// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "sim/simulation.h"

namespace poolcast {

/// A line on a terminal that says how far a run is; silent anywhere else.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);

 private:
  bool shown_;
  bool written_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace poolcast
