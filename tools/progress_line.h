// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

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

/// The same for runs of which it is known how many there are.
class RunsLine {
 public:
  RunsLine();
  ~RunsLine();
  RunsLine(const RunsLine&) = delete;
  RunsLine& operator=(const RunsLine&) = delete;

  void show(std::int64_t done, std::int64_t all);

 private:
  bool shown_;
  bool written_ = false;
};

}  // namespace poolcast
