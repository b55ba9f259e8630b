// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "models/step_curve.h"

namespace poolcast {

/// A measured quantity along one axis, linear between its points and beyond the last two.
struct KernelLine {
  std::vector<std::int64_t> at;  ///< ascending
  std::vector<double> seconds;

  double operator()(double x) const;
};

/// Measured times of attention over one layer, on a grid with at least two points on every axis. A step with prefill
/// and decodes may be measured as one kernel (`mixed`); without that it is a sum, with shares fitted to step records.
struct AttentionTable {
  std::vector<std::int64_t> chunk;     ///< prefill tokens, ascending
  std::vector<std::int64_t> context;   ///< tokens before the chunk
  std::vector<std::int64_t> requests;  ///< decode requests
  std::vector<std::int64_t> kv;        ///< context of each of them
  std::vector<double> prefill;         ///< [chunk][context], s
  std::vector<double> decode;          ///< [requests][kv], s
  std::vector<double> mixed;           ///< [chunk][context][requests][kv], s; empty: the sum
  // By how much the parts of a sum cost more in a step that has both; -1 or above.
  double mixed_prefill_share = 0;
  double mixed_decode_share = 0;
};

/// How far the measurements reach where that is less than the tables, which may hold estimated points.
struct MeasuredRange {
  Tokens tokens = kOpen;
  std::int64_t sampled = kOpen;
  Tokens chunk = kOpen;
  Tokens prefill_context = kOpen;
  Tokens prefill_end = kOpen;  ///< context and chunk together
  std::int64_t decode_requests = kOpen;
  Tokens decode_kv = kOpen;       ///< mean of the requests
  Tokens decode_context = kOpen;  ///< their sum

  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
};

/// Kernel times of one model on one layout, as a profiler of single layers measures them.
struct KernelTables {
  std::int64_t layers = 0;
  KernelLine layer;         ///< all of a layer but attention, by tokens in the step
  KernelLine once;          ///< embedding and last norm, by tokens
  KernelLine per_sequence;  ///< language head and sampler, by requests that sample
  KernelLine experts;       ///< routed experts of all layers, by tokens; empty: none
  KernelLine all_reduce;    ///< of all layers, by tokens; empty: none
  AttentionTable attention;
  /// Batch sizes for which the engine captured CUDA graphs, ascending: a step of no more tokens than the last is padded
  /// up to one of them. Empty: no padding.
  std::vector<std::int64_t> capture_sizes;
  Seconds host{0};              ///< by which the host delays every step
  Seconds host_per_request{0};  ///< and for each request in it
  MeasuredRange range;
  std::string kind = "kernel tables";  ///< of curve, for `provenance`
  std::string source;
};

/// Sum over the layers of what the tables hold. Contexts of decode requests are taken at their mean; several prompts in
/// a step as one chunk of their tokens, corrected by what each alone costs. Times never fall along an axis (noise of a
/// measurement is smoothed upwards). Beyond the tables it goes on with their last slope, out of range.
std::shared_ptr<const StepCurve> make_kernel_table_curve(KernelTables tables);

}  // namespace poolcast
