// SPDX-License-Identifier: Apache-2.0
#include "sim/arrival_process.h"

#include <cmath>
#include <limits>
#include <utility>

#include "sim/portable_math.h"

namespace poolcast {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kLastSecond = 9e9;  // the clock ends at 9.2e9 s

}  // namespace

ArrivalProcess::ArrivalProcess(const ArrivalSpec& spec, RandomStream random) : spec_(spec), random_(std::move(random)) {
  mean_gap_ = spec.rate_per_s > 0 ? 1 / spec.rate_per_s : kEndless;
  if (spec.process == ArrivalSpec::Process::kGamma && spec.cv > 0) {
    gamma_shape_ = 1 / (spec.cv * spec.cv);
    gamma_scale_ = mean_gap_ / gamma_shape_;
  }
  if (spec.process == ArrivalSpec::Process::kOnOff) on_left_ = random_.exponential(spec.on.value);
}

SimTime ArrivalProcess::next() {
  if (mean_gap_ == kEndless && spec_.process != ArrivalSpec::Process::kPiecewise) return kNever;
  switch (spec_.process) {
    case ArrivalSpec::Process::kPoisson:
      now_ += random_.exponential(mean_gap_);
      break;
    case ArrivalSpec::Process::kGamma:
      now_ += gamma_shape_ > 0 ? random_.gamma(gamma_shape_, gamma_scale_) : mean_gap_;
      break;
    case ArrivalSpec::Process::kDeterministic:
      now_ = static_cast<double>(count_++) / spec_.rate_per_s;
      break;
    case ArrivalSpec::Process::kOnOff:
      now_ = next_on_off();
      break;
    case ArrivalSpec::Process::kPiecewise:
      now_ = next_piecewise();
      break;
    case ArrivalSpec::Process::kDiurnal:
      now_ = next_diurnal();
      break;
  }
  return now_ < kLastSecond ? to_sim_time(Seconds(now_)) : kNever;
}

double ArrivalProcess::next_on_off() {
  if (spec_.on.value <= 0) return kEndless;
  double gap = random_.exponential(mean_gap_);  // of time on
  double at = now_;
  while (gap > on_left_) {
    gap -= on_left_;
    at += on_left_ + random_.exponential(spec_.off.value);
    on_left_ = random_.exponential(spec_.on.value);
  }
  on_left_ -= gap;
  return at + gap;
}

double ArrivalProcess::next_piecewise() {
  if (spec_.pieces.empty()) return kEndless;
  double work = random_.exponential(1);  // expected arrivals until the next one
  double at = now_ < spec_.pieces[piece_].first.value ? spec_.pieces[piece_].first.value : now_;
  while (true) {
    const double rate = spec_.pieces[piece_].second;
    const bool last = piece_ + 1 == spec_.pieces.size();
    const double end = last ? kEndless : spec_.pieces[piece_ + 1].first.value;
    if (rate > 0 && at + work / rate < end) return at + work / rate;
    if (last) return kEndless;
    work -= rate > 0 ? rate * (end - at) : 0;
    if (work < 0) work = 0;
    at = end;
    ++piece_;
  }
}

double ArrivalProcess::next_diurnal() {
  const double peak = 1 + std::abs(spec_.amplitude);
  double at = now_;
  while (at < kLastSecond) {
    at += random_.exponential(mean_gap_ / peak);
    // sin(2 pi t / period - pi / 2) = -cos(2 pi t / period)
    const double share = 1 - spec_.amplitude * portable_cos_turns(at / spec_.period.value);
    if (random_.uniform() * peak < share) break;
  }
  return at;
}

}  // namespace poolcast
