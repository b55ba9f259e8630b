// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/term_errors.h"

namespace poolcast {
namespace {

using calibration::attention_seconds;

void predict(const StepCurve& curve, const StepShape& shape, TermTimes& times) {
  StepShape prompts = shape;
  prompts.tokens -= shape.decode_requests;
  prompts.decode_requests = prompts.decode_context = 0;
  const double all = attention_seconds(curve, shape),
               of_prompts = shape.prefill.empty() ? 0 : attention_seconds(curve, prompts);
  times[LiveTerm::kPrefill] += of_prompts;
  times[LiveTerm::kDecode] += all - of_prompts;
  for (const StepTerm& term : curve.terms(shape)) {
    if (term.name == "attention") continue;
    const LiveTerm same = term.name == "linear layers"      ? LiveTerm::kLinear
                          : term.name == "head and sampler" ? LiveTerm::kHead
                                                            : LiveTerm::kOther;
    times[same] += term.seconds.value;
  }
}

void measure(const LiveStep& step, LiveClock clock, TermTimes& times) {
  const bool wall = clock == LiveClock::kWall;
  const double inside = step.terms.sum(), scale = wall ? 1 : step.device.value / inside;
  for (const LiveTerm term : kLiveTerms) times[term] += step.terms[term] * scale;
  if (wall) times[LiveTerm::kOther] += step.wall.value - inside;
}

}  // namespace

std::vector<TermErrors> term_errors(const StepCurve& curve, std::span<const LiveStep> steps, LiveClock clock) {
  TermErrors decodes{"decodes only", 0, {}, {}}, prompts{"with prompts", 0, {}, {}};
  for (const LiveStep& step : steps) {
    TermErrors& kind = step.shape.prefill.empty() ? decodes : prompts;
    ++kind.steps;
    predict(curve, calibration::shape_of(step.shape), kind.predicted);
    measure(step, clock, kind.measured);
  }
  std::vector<TermErrors> kinds;
  for (const TermErrors& kind : {decodes, prompts}) {
    if (kind.steps > 0) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace poolcast
