// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibration/live/block_tables.h"
#include "calibration/live/transformer.h"
#include "calibration/records.h"
#include "sim/step_executor.h"

namespace poolcast {

/// By what the simulation's clock advances while a step runs.
enum class LiveClock : std::uint8_t {
  kWall,    ///< wall time since the step before ended (or since the step was planned, after an idle time): what a user
            ///< waits for, the scheduler's own time and whatever else the machine does included
  kDevice,  ///< CPU time of the busiest thread inside the step: what a machine of its own would take
};

/// What a step held and how long it took by both clocks.
struct LiveStep {
  calibration::StepRecord shape;  ///< without its time
  Seconds wall{0};
  Seconds device{0};
  TermTimes terms;  ///< of the pass alone, by the wall

  /// As the calibration of a curve takes it.
  calibration::StepRecord record(LiveClock clock) const {
    calibration::StepRecord record = shape;
    record.seconds = (clock == LiveClock::kWall ? wall : device).value;
    return record;
  }
};

/// Runs every step of a replica as a forward pass of a real transformer on this machine's CPU, with a real paged KV
/// cache of as many blocks as the engine has.
class LiveExecutor final : public StepExecutor {
 public:
  LiveExecutor(std::unique_ptr<LiveTransformer> model, LiveClock clock);

  Seconds run(std::span<const StepRow> rows) override;
  void forget(RequestId id) override { tables_.forget(id); }

  const std::vector<LiveStep>& steps() const { return steps_; }

 private:
  static calibration::StepRecord describe(std::span<const StepRow> rows);

  std::unique_ptr<LiveTransformer> model_;
  LiveClock clock_;
  BlockTables tables_;
  std::vector<LiveSequence> batch_;
  std::vector<LiveStep> steps_;
  std::optional<Seconds> since_;  ///< wall time at which the last step ended
};

}  // namespace poolcast
