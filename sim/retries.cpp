// SPDX-License-Identifier: Apache-2.0
#include "sim/retries.h"

#include <algorithm>

#include "sim/random.h"

namespace poolcast {

Retries::Class::Class(const ClassSpec& cls)
    : spec(cls.retry),
      stream("retry/" + std::to_string(cls.model.value) + "/" + cls.name),
      sends(cls.retry.window),
      retries(cls.retry.window) {}

Retries::Retries(const SimulationSpec& spec) : seed_(spec.seed) {
  for (const ClassSpec& cls : spec.classes) classes_.emplace_back(cls);
}

bool Retries::any() const {
  return std::any_of(classes_.begin(), classes_.end(), [](const Class& c) { return c.spec.max > 0; });
}

void Retries::sent(ClassId cls, SimTime now) {
  Class& c = classes_[cls.value];
  ++c.report.attempts;
  if (c.spec.budget < std::numeric_limits<double>::infinity()) c.sends.add(now);
}

std::optional<SimTime> Retries::again(const RequestRecord& record, SimTime patience, SimTime now) {
  Class& c = classes_[record.cls.value];
  if (c.spec.max == 0 || !c.spec.reasons.has(record.reason)) return std::nullopt;
  if (record.retries >= c.spec.max) {
    ++c.report.exhausted;
    return std::nullopt;
  }
  const SimTime due = later(now, backoff(c, record));
  if (due >= later(record.at.sent, patience)) {  // its user will be gone by then
    ++c.report.too_late;
    return std::nullopt;
  }
  if (c.spec.budget < std::numeric_limits<double>::infinity()) {
    const auto retries = static_cast<double>(c.retries.at(now) + 1);
    if (retries > c.spec.budget * static_cast<double>(c.sends.at(now)) + 1e-9) {
      ++c.report.denied;
      return std::nullopt;
    }
    c.retries.add(now);
  }
  ++c.report.attempts;
  ++c.report.retries;
  return due;
}

/// Drawn from a stream of this request and this try, so that no other request can shift it.
SimTime Retries::backoff(const Class& cls, const RequestRecord& record) const {
  double wait = static_cast<double>(cls.spec.backoff);
  for (std::int32_t n = 0; n < record.retries && wait < static_cast<double>(cls.spec.longest); ++n) {
    wait *= cls.spec.factor;
  }
  wait = std::min(wait, static_cast<double>(cls.spec.longest));
  if (cls.spec.jitter > 0) {
    const std::uint64_t who = content_id(record.source.value, record.row) + static_cast<std::uint64_t>(record.retries);
    wait *= 1 + cls.spec.jitter * (2 * RandomStream(seed_, cls.stream, who).uniform() - 1);
  }
  return static_cast<SimTime>(wait);
}

Retries::Waiting Retries::take() {
  Waiting waiting = std::move(waiting_.begin()->second);
  waiting_.erase(waiting_.begin());
  return waiting;
}

std::vector<RetryReport> Retries::report() const {
  std::vector<RetryReport> reports;
  for (const Class& c : classes_) reports.push_back(c.report);
  return reports;
}

}  // namespace poolcast
