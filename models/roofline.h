// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "models/accelerator.h"
#include "models/layout.h"
#include "models/precision.h"
#include "models/step_curve.h"
#include "models/transformer.h"

namespace poolcast {

/// How far real kernels stay below the datasheet, and what a step costs beside them. These are assumptions, printed
/// with the results; measured curves replace them.
struct RooflineOptions {
  Precision weights = Precision::kBf16;  ///< storage of the linear layers, and the matrix unit that runs them
  Precision kv = Precision::kBf16;       ///< storage of the KV cache; attention is computed at the bf16 peak

  double compute_efficiency = 0.7;  ///< share of the peak rate that large matrix products reach
  double memory_efficiency = 0.8;   ///< share of the memory bandwidth
  double link_efficiency = 0.8;     ///< share of the scale-up bandwidth
  Seconds link_latency{1e-6};       ///< of one hop of a ring
  Seconds host_base{1e-3};          ///< scheduler, input preparation and launch that the device waits for, per step
  Seconds host_per_request{5e-6};   ///< the same per request in the step

  /// Steps up to so many tokens are looked up; larger ones are computed each time. Give max_num_batched_tokens.
  Tokens table_tokens = 16384;
};

/// A roofline from datasheet figures: each term takes the longer of its compute time and its memory time.
/// Terms and formulas are in models/README.md and roofline.cpp.
///
/// Throws MissingFigure when the accelerator lacks a figure that is needed (the link only with tp > 1) and
/// UnsupportedLayout as `check_layout` does.
std::unique_ptr<StepCurve> make_roofline(const Accelerator& accelerator, const TransformerShape& shape,
                                         const Layout& layout, const RooflineOptions& options = {});

}  // namespace poolcast
