// SPDX-License-Identifier: Apache-2.0
#include "models/cost.h"

namespace poolcast {
namespace {

CostLine line(const ReservedCapacity& pool, Seconds duration) {
  CostLine result;
  result.pool = pool.pool;
  result.devices = pool.replicas * pool.devices_per_replica;
  result.price_per_device = pool.price_per_device;
  if (pool.price_per_device) result.total = *pool.price_per_device * duration * static_cast<double>(result.devices);
  return result;
}

std::optional<Dollars> quotient(std::optional<Dollars> total, std::int64_t count, double per) {
  if (!total || count <= 0) return std::nullopt;
  return *total * (per / static_cast<double>(count));
}

}  // namespace

CostReport cost(const std::vector<ReservedCapacity>& pools, Seconds duration, const Produced& produced) {
  CostReport report;
  report.total = Dollars(0);
  report.per_hour = DollarsPerHour(0);
  for (const ReservedCapacity& pool : pools) {
    const CostLine& added = report.lines.emplace_back(line(pool, duration));
    if (!added.total) {
      report.total.reset();
      report.per_hour.reset();
    }
    if (report.total) {
      *report.total += *added.total;
      *report.per_hour += *pool.price_per_device * static_cast<double>(added.devices);
    }
  }
  report.per_accepted_output = quotient(report.total, produced.accepted_outputs, 1);
  report.per_million_output_tokens = quotient(report.total, produced.output_tokens, 1e6);
  report.per_million_accepted_tokens = quotient(report.total, produced.accepted_output_tokens, 1e6);
  return report;
}

}  // namespace poolcast
