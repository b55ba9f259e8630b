// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/schedulers/triton_batcher.h"

/// Triton's batcher alone, between a list of arrivals and instances whose batches take a time by their size.
namespace poolcast::testing {

struct TritonArrival {
  SimTime at = 0;
  std::int32_t priority = 0;
};

/// A batch that ran, or a request that was refused.
struct TritonLine {
  SimTime at = 0;
  std::vector<std::size_t> requests;  ///< by their place in the list of arrivals
  SimTime end = kNever;               ///< kNever: refused
  bool queue_full = false;
  bool operator==(const TritonLine&) const = default;
};

/// Arrivals are in order of time. Of one instant: ends, arrivals, the thread.
inline std::vector<TritonLine> run_triton(const TritonArgs& args, const std::vector<TritonArrival>& arrivals,
                                          const std::function<SimTime(std::size_t)>& time_of_batch) {
  TritonBatcher batcher(args);
  std::vector<TritonLine> log;
  std::vector<SimTime> ends;
  std::size_t next = 0;
  SimTime now = 0;
  const auto collect = [&] {
    for (const RequestId id : batcher.rejected()) log.push_back({now, {id.value}, kNever, false});
    batcher.rejected().clear();
    for (const TritonBatcher::Batch& batch : batcher.started()) {
      TritonLine line{now, {}, now + time_of_batch(batch.size()), false};
      for (const RequestId id : batch) line.requests.push_back(id.value);
      ends.push_back(line.end);
      log.push_back(line);
    }
    batcher.started().clear();
  };
  for (;;) {
    const SimTime arrival = next < arrivals.size() ? arrivals[next].at : kNever;
    const auto end = std::min_element(ends.begin(), ends.end());
    const SimTime first_end = end == ends.end() ? kNever : *end;
    const SimTime wake = batcher.wakes_at(now);
    if (std::min({arrival, first_end, wake}) == kNever) return log;
    now = std::min({arrival, first_end, wake});
    if (first_end == now) {
      ends.erase(end);
      batcher.instance_freed(now);
    } else if (arrival == now) {
      const RequestId id(next);
      if (!batcher.enqueue(id, arrivals[next++].priority, now)) log.push_back({now, {id.value}, kNever, true});
    } else {
      batcher.run(now);
    }
    collect();
  }
}

}  // namespace poolcast::testing
