// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cell.h"
#include "sim/flow_spec.h"
#include "sim/gates.h"
#include "sim/gateway_report.h"
#include "sim/ids.h"
#include "sim/move_report.h"
#include "sim/prefix_stats.h"
#include "sim/schedulers/fidelity.h"
#include "sim/schedulers/speculation.h"
#include "sim/time.h"

/// What a simulation measured. Plain values; scenarios/ writes them as text, JSON and HDF5.
namespace poolcast {

/// What one replica did over the whole run, warm-up included.
struct ReplicaReport {
  PoolId pool;
  std::uint64_t requests = 0;  ///< routed to it
  std::uint64_t completed = 0;
  std::uint64_t steps = 0;
  std::uint64_t decode_steps = 0;  ///< of those, decode only
  std::uint64_t extrapolated_steps = 0;
  std::int64_t instances = 1;  ///< that run batches side by side (triton, session)
  SimTime busy = 0;            ///< ns in which a step ran; the mean over its instances
  SimTime stage_work = 0;      ///< pipeline: of `busy`, for how long an average stage worked; the rest is the bubble
  std::int64_t scheduled_tokens = 0;  ///< tokens computed, recomputed ones included
  std::int64_t wasted_tokens = 0;     ///< computed beside those, for requests that had ended already
  std::int64_t rejected_tokens = 0;   ///< computed beside those, for drafts that were thrown away
  std::int64_t padded_tokens = 0;     ///< computed beside those, to fill a shape: what padding wastes
  std::int64_t running_steps = 0;     ///< sum over steps of the requests in the step: / steps = mean batch
  std::int64_t running_max = 0;
  std::int64_t waiting_max = 0;
  std::int64_t kv_block_steps = 0;  ///< sum over steps of the blocks in use: / steps / usable = mean KV use
  std::int64_t kv_blocks_max = 0;
  std::int64_t kv_blocks_usable = 0;
  std::uint64_t preemptions = 0;
  std::int64_t recomputed_tokens = 0;
  PrefixStats prefix;
  SpeculationStats speculation;
  std::vector<Departure> departures;
  std::uint64_t leaps = 0;
  std::int64_t compiled = 0;  ///< programs compiled while requests waited for them
  bool stalled = false;
};

/// One stretch of the run, for the stationarity test and for plots.
struct Window {
  SimTime begin = 0;
  SimTime end = 0;
  std::uint64_t arrived = 0;
  std::uint64_t ended = 0;
  double mean_in_system =
      0;  ///< requests that their users wait for (held back by a capped client or sent), time average
};

struct Report {
  SimTime first_arrival = kNever;  ///< intended, of any request
  SimTime last_arrival = 0;
  SimTime end = 0;                  ///< the last request ended
  SimTime measured_begin = kNever;  ///< the measured interval: first measured arrival (or the end of the warm-up) …
  SimTime measured_end = 0;         ///< … to the end of the last measured one, or of the window that cuts the load
  std::uint64_t warm_up_requests = 0;  ///< simulated but not measured
  std::uint64_t skipped_rows = 0;
  std::uint64_t unsent_requests = 0;  ///< turns of sessions whose turn before did not complete
  std::uint64_t truncated_requests = 0;
  bool has_prefix_data = false;  ///< any source had it
  std::uint64_t transfers = 0;   ///< of KV between pools
  double transferred_bytes = 0;
  std::uint64_t host_loads = 0;  ///< of KV from a replica's host
  double host_loaded_bytes = 0;
  SimTime host_load_time = 0;          ///< sum over those, from the blocks being there to the KV being there
  SimTime transfer_time = 0;           ///< sum over transfers, from the blocks being there to the KV being there
  std::int64_t prefix_tokens = 0;      ///< prompt tokens of requests from those sources that were scheduled
  std::int64_t ideal_prefix_hits = 0;  ///< of those, what an endless cache shared by all would have found

  std::vector<std::vector<Cell>> cells;  ///< [ClassId][PoolId], one more column at the end for "never routed"
  std::vector<ReplicaReport> replicas;   ///< by ReplicaId
  std::vector<Window> windows;           ///< equal stretches from the first arrival to the end
  bool stationary = true;
  double backlog_growth_per_s = 0;  ///< requests in system gained per second over the second half of the arrivals
  std::vector<FlowReport> flows;    ///< by PoolId
  std::vector<MoveReport> moves;    ///< by the order of SimulationSpec::moves
  GateReport gates;
  GatewayReport gateway;
  std::vector<std::string> notes;  ///< sentences for the reader, in a fixed order

  std::uint64_t steps = 0;
  std::uint64_t leaps = 0;
  std::uint64_t events = 0;
  /// Time integral of the requests in the system (intended and not ended), in request-nanoseconds, of the whole run: by
  /// Little's law exactly the sum over requests of ended - intended.
  __extension__ __int128 in_system_ns = 0;

  Cell total() const;
  Cell of_class(ClassId cls) const;
  Cell of_pool(PoolId pool) const;
  Seconds measured_duration() const { return to_seconds(measured_end - measured_begin); }
};

}  // namespace poolcast
