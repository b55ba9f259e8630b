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
