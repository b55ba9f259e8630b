// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/term_times.h"

#include <numeric>

#include "kernels/timer.h"

namespace poolcast {

const char* name(LiveTerm term) {
  constexpr std::array<const char*, kLiveTerms.size()> kNames = {"linear layers", "prefill attention",
                                                                 "decode attention", "head and sampler", "other"};
  return kNames[static_cast<std::size_t>(term)];
}

double TermTimes::sum() const { return std::accumulate(seconds_.begin(), seconds_.end(), 0.0); }

void TermClock::start() {
  times_ = {};
  since_ = kernels::wall_now();
}

void TermClock::was(LiveTerm term) {
  const Seconds now = kernels::wall_now();
  times_[term] += (now - since_).value;
  since_ = now;
}

}  // namespace poolcast
