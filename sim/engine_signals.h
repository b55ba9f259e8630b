// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/busy_share.h"
#include "sim/replica.h"
#include "sim/seen_signals.h"

namespace poolcast {

/// The metrics of candidates that are ranges of engines, as they stand: candidate i has the engines from borders[i] to
/// before borders[i + 1].
class EngineSignals : public MetricSource {
 public:
  /// `engines` and `now`, the clock, outlive this.
  EngineSignals(const std::vector<std::unique_ptr<Replica>>& engines, const SimTime& now,
                std::vector<std::uint32_t> borders)
      : engines_(engines), now_(now), borders_(std::move(borders)) {}

  std::int64_t waiting(std::uint32_t index) const override;
  std::int64_t running(std::uint32_t index) const override;
  double kv_usage(std::uint32_t index) const override { return kv_usage_at(index, now_); }
  double kv_usage_at(std::uint32_t index, SimTime at) const override { return read_kv(index, at).share; }
  KvReading read_kv(std::uint32_t index) const override { return read_kv(index, now_); }
  double busy(std::uint32_t index) const override { return busy_at(index, now_); }
  double busy_at(std::uint32_t index, SimTime at) const override;

  /// From the start of a run on: shares of the last `window` in which engines are busy. All candidates are alike.
  void watch_busy(SimTime window);
  /// A candidate is about to change at `now`, which may be later than what the clock shows: that is of decisions.
  void before_change(std::uint32_t index, SimTime now) {
    if (busy_) busy_->before_change(index, now, busy_time(index, now));
  }

 private:
  KvReading read_kv(std::uint32_t index, SimTime at) const;
  SimTime busy_time(std::uint32_t index, SimTime at) const;

  const std::vector<std::unique_ptr<Replica>>& engines_;
  const SimTime& now_;
  std::vector<std::uint32_t> borders_;
  std::optional<BusyShare> busy_;  ///< where somebody reads it
};

}  // namespace poolcast
