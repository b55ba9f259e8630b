// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/schedulers/triton_args.h"

namespace poolcast {

/// Speed of each of `active` concurrent runs of ONNX Runtime sessions, as a share of the speed of one run that has all
/// physical cores to itself, which is what the pool's curve gives.
///
/// Rule: a run has intra_op_num_threads threads (0: one for each physical core; the calling thread counts), and k
/// sessions that compete for C cores get C / k each. Idle sessions compete too while their workers spin, which costs
/// the others something only when all threads together are more than the cores. Speed grows in proportion to cores:
/// an upper bound, as operators differ in how well they divide.
///
/// Sources: onnxruntime.ai, docs/performance/tune-performance/threading (pools are per session, physical cores by
/// default, allow_spinning on by default); EigenNonBlockingThreadPool.h (a worker spins up to 2^20 rounds, then
/// blocks). Departs: idle workers are taken to spin for as long as they are idle; in fact they block after some
/// milliseconds. Not modelled: the slower first run of each shape (the arena grows, kernels are tuned), of which no
/// figure was found.
inline double session_speed(const SessionArgs& args, std::int64_t active) {
  const auto cores = static_cast<double>(args.physical_cores);
  const auto threads = args.intra_op_num_threads > 0
                           ? static_cast<double>(std::min(args.intra_op_num_threads, args.physical_cores))
                           : cores;
  const auto sessions = static_cast<double>(args.instance_count);
  const bool spinners = args.allow_spinning && sessions * threads > cores;
  const double competing = spinners ? sessions : static_cast<double>(active);
  return std::min(threads, cores / competing) / cores;
}

}  // namespace poolcast
