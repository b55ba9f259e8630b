// SPDX-License-Identifier: Apache-2.0
#include "models/pipeline.h"

#include <catch2/catch.hpp>

#include "models/step_fit.h"
#include "tests/units/models/shapes.h"

namespace poolcast {
namespace {

using namespace test;

std::shared_ptr<const StepCurve> fit(double base, double per_request, double per_token = 0, double per_context = 0) {
  StepFit fit;
  fit.base = Seconds(base);
  fit.per_request = Seconds(per_request);
  fit.per_token = Seconds(per_token);
  fit.per_context_token = Seconds(per_context);
  return make_step_fit(fit);
}

/// Two equal stages of 2 + n seconds for n decoding requests, 3 s a prefill token, micro-batches of at most 4 tokens.
Pipeline two_stages() {
  Pipeline pipeline;
  pipeline.micro_batch_tokens = 4;
  pipeline.whole = fit(4, 2, 6, 0.02);
  pipeline.slowest = {fit(2, 1, 3, 0.01)};
  return pipeline;
}

double bubble(const StepCurve& curve, const StepShape& shape) {
  return 1 - curve.busy()->step(shape).value / curve.step(shape).value;
}

TEST_CASE("a round takes the trip of its longest micro-batch, and the bubble is what stages then miss") {
  const auto curve = make_pipeline(two_stages());
  // One request is in one stage at a time: 6 s, and each stage stands idle for half of it.
  CHECK(curve->step(decode(1, 0)).value == Approx(6));
  CHECK(bubble(*curve, decode(1, 0)) == Approx(0.5));
  // Two take turns.
  CHECK(curve->step(decode(2, 0)).value == Approx(6));
  CHECK(bubble(*curve, decode(2, 0)) == Approx(0).margin(1e-12));
  // Three: micro-batches of two and one, stage times 4 and 3, a round of 2 * 4 and a bubble of 1 - 7/8.
  CHECK(curve->step(decode(3, 0)).value == Approx(8));
  CHECK(bubble(*curve, decode(3, 0)) == Approx(1 - 7 / 8.0));
  CHECK(term(*curve, decode(3, 0), "pipeline bubble") == Approx(1));
}

TEST_CASE("contexts are split with their requests") {
  const auto curve = make_pipeline(two_stages());
  // 300 tokens of three requests: the larger micro-batch has 200 of them, 0.02 s each on its trip.
  CHECK(curve->step(decode(3, 300)).value == Approx(8 + 4));
  const DecodeLine line = curve->decode_line(3, 300);
  CHECK(line.slope_s_per_token == Approx(0.02 * 2 / 3));
  CHECK(line.at(600) == Approx(8 + 8));
}

TEST_CASE("hops belong to the trip, not to the work of a stage") {
  Pipeline pipeline = two_stages();
  pipeline.hops_base_s = 0.5;
  pipeline.hops_per_token_s = 0.25;
  const auto curve = make_pipeline(pipeline);
  CHECK(curve->step(decode(1, 0)).value == Approx(6 + 0.75));
  CHECK(curve->step(decode(3, 0)).value == Approx(8 + 1));
  CHECK(bubble(*curve, decode(2, 0)) == Approx(0.75 / 6.75));
}

TEST_CASE("the slowest stage decides when all of them are full") {
  Pipeline pipeline = two_stages();
  pipeline.slowest.push_back(fit(5, 1));  // has the head
  pipeline.whole = fit(7, 2);
  const auto curve = make_pipeline(pipeline);
  CHECK(curve->step(decode(1, 0)).value == Approx(9));   // a trip
  CHECK(curve->step(decode(2, 0)).value == Approx(12));  // 6 + 6 on that stage
  CHECK(bubble(*curve, decode(2, 0)) == Approx(1 - 9 / 12.0));
}

TEST_CASE("chunks are dealt out in order, and a long one goes on in the next micro-batch") {
  const auto curve = make_pipeline(two_stages());
  // A chunk of 3 rides with one of three decodes: stage times 2 + 1 + 9 and 2 + 2.
  const PrefillChunk small[] = {{3, 0}};
  CHECK(curve->step({6, 4, 3, 0, small}).value == Approx(2 * 12));
  CHECK(bubble(*curve, {6, 4, 3, 0, small}) == Approx(1 - 16 / 24.0));
  // 6 tokens are 4 and 2: 2 + 12 and 2 + 6.
  const PrefillChunk large[] = {{6, 0}};
  CHECK(curve->step({6, 1, 0, 0, large}).value == Approx(2 * 14));
  // Four chunks: the first and the fourth, the second and the third: 2 + 3 * 4 and 2 + 3 * 5.
  const PrefillChunk four[] = {{3, 0}, {4, 0}, {1, 0}, {1, 0}};
  CHECK(curve->step({9, 4, 0, 0, four}).value == Approx(2 * 17));
}

TEST_CASE("a roofline with pp cuts the layers and moves activations over the link") {
  RooflineOptions options = ideal();
  TransformerShape shape = tiny();
  shape.layers = 4;
  shape.vocab = 0;  // no head: the stages are alike
  const Accelerator accelerator = machine(1e30, 1e6, 1e3);
  const auto whole = make_roofline(accelerator, shape, {1}, options);
  const auto two = make_roofline(accelerator, shape, {1, 2}, options);
  // A hop carries 100 values * 2 B.
  CHECK(two->step(decode(1, 50)).value == Approx(whole->step(decode(1, 50)).value + 0.2));
  CHECK(two->step(decode(2, 100)).value == Approx(whole->step(decode(1, 50)).value + 0.2));
  options.link_latency = Seconds(0.1);  // there, and back with the token
  const auto late = make_roofline(accelerator, shape, {1, 2}, options);
  CHECK(late->step(decode(1, 50)).value == Approx(whole->step(decode(1, 50)).value + 0.2 + 2 * 0.1));
}

TEST_CASE("the head and an odd layer make one stage slower than the others") {
  RooflineOptions options = ideal();
  TransformerShape shape = tiny();
  shape.layers = 5;  // 3 and 2 on two stages
  const Accelerator accelerator = machine(1e30, 1e6, 1e30);
  const auto two = make_roofline(accelerator, shape, {1, 2}, options);
  // A layer takes 0.1842 + 0.0104 s for a request of context 50, the head 0.2102 s: stages of 0.5838 and 0.5994 s, of
  // which the second decides.
  const double layer = 0.1842 + 0.0104, head = 0.2102;
  CHECK(two->step(decode(1, 50)).value == Approx(5 * layer + head));
  CHECK(two->step(decode(2, 100)).value == Approx(2 * (2 * layer + head)));
  // A smaller head leaves the stage of three layers the slowest.
  shape.vocab = 100;  // 0.02102 s
  CHECK(make_roofline(accelerator, shape, {1, 2}, options)->step(decode(2, 100)).value == Approx(2 * 3 * layer));
}

}  // namespace
}  // namespace poolcast
