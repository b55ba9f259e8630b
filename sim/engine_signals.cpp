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

void EngineSignals::watch_busy(SimTime window) {
  const std::int64_t instances = engines_[borders_[0]]->instances();
  busy_.emplace(static_cast<std::uint32_t>(borders_.size() - 1), (borders_[1] - borders_[0]) * instances, window);
}

SimTime EngineSignals::busy_time(std::uint32_t index, SimTime at) const {
  SimTime sum = 0;
  for (std::uint32_t e = borders_[index]; e < borders_[index + 1]; ++e) sum += engines_[e]->busy(at);
  return sum;
}

double EngineSignals::busy_at(std::uint32_t index, SimTime at) const {
  return busy_ ? busy_->share(index, at, busy_time(index, at)) : 0;
}

KvReading EngineSignals::read_kv(std::uint32_t index, SimTime at) const {
  KvReading all;
  for (std::uint32_t e = borders_[index]; e < borders_[index + 1]; ++e) {
    const KvReading one = engines_[e]->read_kv(at);
    all.share += one.share;
    all.until = std::min(all.until, one.until);
  }
  all.share /= static_cast<double>(borders_[index + 1] - borders_[index]);
  return all;
}

}  // namespace poolcast
