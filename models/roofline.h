// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/accelerator.h"
#include "models/layout.h"
#include "models/precision.h"
#include "models/step_curve.h"
#include "models/transformer.h"

namespace poolcast {

/// How far real kernels stay below the datasheet, and what a step costs beside them: assumptions, printed with the
/// results (`provenance`); measured curves replace them.
struct RooflineOptions {
  Precision weights = Precision::kBf16;  ///< storage of the linear layers
  Precision kv = Precision::kBf16;       ///< storage of the KV cache; attention itself runs at the bf16 peak
  /// Matrix unit of the linear layers; nothing = that of `weights`. bf16 with narrower weights means weight-only
  /// quantisation.
  std::optional<Precision> compute;

  /// Share of the peak rate that large matrix products reach. Medians of vLLM's own kernels at 1,024 to 8,192 tokens in
  /// the operation tables of ai-dynamo/aiconfigurator@095f58a: H100 0.80, A100 0.82, L40S 0.62.
  double compute_efficiency = 0.75;
  /// Share of the bf16 peak that prefill attention reaches. Same tables, prompts of 2,048 to 8,192 tokens: H100 0.48 to
  /// 0.63, A100 0.46 to 0.55, L40S 0.46 to 0.55.
  double attention_efficiency = 0.5;
  /// Share of the memory bandwidth: aiconfigurator's mem_bw_empirical_scaling_factor.
  double memory_efficiency = 0.8;
  /// Share of the scale-up bandwidth in one direction that a large all-reduce reaches: NCCL tables of the same source,
  /// 0.64 (2 x A100) to 0.99 (8 x H100, reduced in the switch).
  double link_efficiency = 0.7;
  /// Of one hop of a ring, 2 (tp - 1) hops to an all-reduce. Small messages on 8 x H100 take 3.2 us by a one-shot
  /// kernel (0.23 us a hop) and 15.6 us by NCCL (1.1 us a hop).
  Seconds link_latency{0.5e-6};
  /// Scheduling, input preparation and launches that the device waits for, per step: an assumption, in line with vLLM
  /// 0.19 on an RTX PRO 6000 (a lone Llama-3.1-8B request decodes in 11.6 ms, of which 10.5 ms are memory time).
  Seconds host_base{1e-3};
  /// The same, per request in the step: an assumption.
  Seconds host_per_request{5e-6};
  /// The host works while the device does: a step takes the longer of the two, not their sum (vLLM with
  /// async_scheduling).
  bool host_overlap = false;

  /// Tokens of the busiest group of experts over the mean of all `ep` groups: 1 = even; at most ep and at most
  /// experts / experts_per_token.
  double expert_imbalance = 1;
  /// In its place: exponent of the popularity of experts, from which the imbalance follows (models/expert_skew.h).
  std::optional<double> expert_skew;

  /// Batch sizes for which the engine captured CUDA graphs, ascending: whatever depends on tokens alone costs, in a
  /// step of no more tokens than the last of them, as much as the next size up. Empty: no padding.
  std::vector<std::int64_t> capture_sizes;
  /// Pipeline: most tokens of one micro-batch, max_num_batched_tokens of the engine.
  Tokens micro_batch_tokens = 8192;

  /// Steps up to so many tokens are looked up; larger ones are computed each time. Give max_num_batched_tokens.
  Tokens table_tokens = 16384;
};

/// A roofline from datasheet figures: each term takes the longer of its compute time and its memory time.
/// Terms and formulas are in models/README.md and roofline_terms.h. With dp above 1 it is the curve of one rank, with
/// pp above 1 a pipeline of stages (models/pipeline.h). Every exchange passes the scale-up link.
///
/// Throws MissingFigure when the accelerator lacks a figure that is needed (the link only where devices exchange
/// anything) and UnsupportedLayout as `check_layout` does, and ModelError for an option outside its range.
std::unique_ptr<StepCurve> make_roofline(const Accelerator& accelerator, const TransformerShape& shape,
                                         const Layout& layout, const RooflineOptions& options = {});

}  // namespace poolcast
