// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/step_curve.h"

namespace poolcast {

/// The stages of a pipeline, as curves of the micro-batch that passes them.
struct Pipeline {
  std::int64_t stages = 2;
  Tokens micro_batch_tokens = 8192;        ///< a longer chunk goes into several micro-batches, in order
  std::shared_ptr<const StepCurve> whole;  ///< all stages one after another: the trip of a micro-batch, without hops
  std::vector<std::shared_ptr<const StepCurve>> slowest;  ///< stages of which one is the slowest
  double hops_base_s = 0;       ///< of a trip, the way of the sampled tokens back to the first stage included
  double hops_per_token_s = 0;  ///< of a trip: activations that move from stage to stage
};

/// A step is the round in which every running request gets its tokens, in at most `stages` micro-batches that are in
/// flight at once:
///   round = max(longest trip, work of the slowest stage),   trip = time of all stages for a micro-batch + its hops,
/// since a micro-batch comes in again after its own trip, and a stage works on one micro-batch at a time. These are the
/// bounds of a cyclic flow shop (McCormick, Pinedo, Shenker, Wolf 1989); slots of equal length meet them when the
/// stages are alike: with stage times t_j it is stages * max t_j. The bubble is the share of the round in which an
/// average stage stands idle, 1 - (sum over micro-batches of the time of all stages) / (stages * round).
///
/// Decoding requests are split evenly, from the last micro-batch on, and their contexts are taken at the mean, so a
/// round may become shorter when a request joins with less than that. Chunks are dealt out in the order of the step,
/// forth and back over the micro-batches from the first one on: chunk i begins in micro-batch i, and its part beyond
/// `micro_batch_tokens` goes on in the next. Which micro-batch a part falls to depends on nothing else, so that a round
/// grows with each of them.
std::unique_ptr<StepCurve> make_pipeline(Pipeline pipeline);

}  // namespace poolcast
