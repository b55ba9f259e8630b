// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/random.h"
#include "sim/time.h"
#include "sim/workload.h"

namespace poolcast {

/// The instants of an ArrivalSpec, in order, from time 0 on.
///
/// poisson, gamma: each instant is one gap after the last, the first one gap after 0. deterministic: k / rate for
/// k = 0, 1, …, without drift. on-off: Poisson while on; begins with a time on. piecewise, diurnal: Poisson of a rate
/// that changes; nothing arrives before the first piece. diurnal is made by thinning (Lewis, Shedler 1979), a rate that
/// the amplitude makes negative counts as 0.
class ArrivalProcess {
 public:
  ArrivalProcess(const ArrivalSpec& spec, RandomStream random);
  /// The next instant, or kNever when there is none any more.
  SimTime next();

 private:
  double next_on_off();
  double next_piecewise();
  double next_diurnal();

  ArrivalSpec spec_;
  RandomStream random_;
  double now_ = 0;  ///< s
  double mean_gap_ = 0, gamma_shape_ = 0, gamma_scale_ = 0;
  double on_left_ = 0;
  std::size_t piece_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace poolcast
