// SPDX-License-Identifier: Apache-2.0
#include "sim/engine_signals.h"

#include <algorithm>

namespace poolcast {

std::int64_t EngineSignals::waiting(std::uint32_t index) const {
  std::int64_t sum = 0;
  for (std::uint32_t e = borders_[index]; e < borders_[index + 1]; ++e) sum += engines_[e]->waiting();
  return sum;
}

std::int64_t EngineSignals::running(std::uint32_t index) const {
  std::int64_t sum = 0;
  for (std::uint32_t e = borders_[index]; e < borders_[index + 1]; ++e) sum += engines_[e]->running();
  return sum;
}

double EngineSignals::kv_usage_at(std::uint32_t index, SimTime at) const {
  double sum = 0;
  for (std::uint32_t e = borders_[index]; e < borders_[index + 1]; ++e) sum += engines_[e]->kv_usage(at);
  return sum / static_cast<double>(borders_[index + 1] - borders_[index]);
}

SimTime EngineSignals::kv_usage_until(std::uint32_t index) const {
  SimTime until = kNever;
  for (std::uint32_t e = borders_[index]; e < borders_[index + 1]; ++e) {
    until = std::min(until, engines_[e]->kv_usage_until(now_));
  }
  return until;
}

}  // namespace poolcast
