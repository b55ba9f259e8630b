// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/policies/policy.h"
#include "sim/signal_spec.h"
#include "sim/time.h"

namespace poolcast {

/// Metrics of endpoints as they stand, with KV use and busy share at any instant since the endpoint changed last.
class MetricSource : public Signals {
 public:
  virtual double kv_usage_at(std::uint32_t index, SimTime at) const = 0;
  virtual double busy_at(std::uint32_t index, SimTime at) const {
    (void)index, (void)at;
    return 0;
  }
};

/// The metrics of a pool's endpoints as its router sees them: each as it was when the engines were last asked, `delay`
/// after that.
///
/// No event belongs to asking. An endpoint stays as it is between two of its changes, so what was asked meanwhile is
/// filled in just before the next change, or when somebody looks; only answers that can still be looked at are kept.
class SeenSignals : public Signals {
 public:
  /// `truth` outlives this. Busy shares are asked for only where somebody reads them.
  SeenSignals(const SignalSpec& spec, const MetricSource& truth, std::uint32_t endpoints, bool reads_busy = false);

  /// The endpoint is about to change. The instants up to `settled` at which engines are asked have seen it as it is.
  void before_change(std::uint32_t endpoint, SimTime settled) {
    if (settled >= due_[endpoint]) ask(endpoint, settled);
  }
  /// Shows what is known at `now`, after the steps that end at that instant.
  void look(SimTime now);
  /// Another whenever something else is shown; metrics that are always known do not count.
  std::uint64_t version() const { return version_; }

  std::int64_t waiting(std::uint32_t index) const override;
  std::int64_t running(std::uint32_t index) const override;
  double kv_usage(std::uint32_t index) const override;
  double busy(std::uint32_t index) const override;
  /// What is shown stays until the next look.
  KvReading read_kv(std::uint32_t index) const override;

  /// Milliseconds since the oldest of the metrics was known, as of the last look; infinity where one never was or is
  /// ignored. The same for all endpoints, which are asked together.
  double age_ms() const { return age_ms_; }
  /// The first instant after `now` at which something is known anew; kNever where everything is known at once.
  SimTime next_arrival(SimTime now) const;
  /// Whether some metric is known as it stands.
  bool any_instant() const { return any_instant_; }

 private:
  static constexpr std::int64_t kNothing = -1;
  static constexpr double kFull = 1e6;  ///< requests of an endpoint that counts as full

  struct Metric {
    MetricSignal spec;
    std::int64_t kept = 0;           ///< answers for an endpoint
    std::vector<double> answers;     ///< [endpoint * kept + number % kept]
    std::vector<std::int64_t> next;  ///< by endpoint: number of the first answer that is not filled in
    std::vector<double> shown;       ///< by endpoint
    std::int64_t shown_number = kNothing - 1;
    bool shown_stale = false;
  };

  void ask(std::uint32_t endpoint, SimTime settled);
  void show(std::size_t which, SimTime now);
  double read(std::size_t which, std::uint32_t endpoint, SimTime at) const;

  const MetricSource& truth_;
  std::vector<Metric> metrics_;  ///< waiting, running, KV use; busy share, where it is read
  std::vector<SimTime> due_;     ///< by endpoint: the first instant of asking that is not filled in
  double age_ms_ = 0;
  std::uint64_t version_ = 0;
  bool any_instant_ = false;
};

}  // namespace poolcast
