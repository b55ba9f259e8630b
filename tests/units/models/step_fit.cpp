// SPDX-License-Identifier: Apache-2.0
#include "models/step_fit.h"

#include <catch2/catch.hpp>
#include <limits>

#include "models/error.h"
#include "tests/units/models/shapes.h"

namespace poolcast {
namespace {

using namespace test;

StepFit fit() {
  StepFit result;
  result.base = Seconds(10);
  result.per_token = Seconds(1);
  result.per_request = Seconds(0.5);
  result.per_context_token = Seconds(0.25);
  result.per_prefill_context = Seconds(0.125);
  return result;
}

TEST_CASE("a step fit is linear in its five measures") {
  const auto curve = make_step_fit(fit());
  const PrefillChunk chunks[] = {{4, 8}, {2, 0}};
  StepShape shape = decode(3, 40);
  shape.tokens = 9;
  shape.prefill = chunks;
  // 10 + 6 * 1 + 3 * 0.5 + 40 * 0.25 + 32 * 0.125
  CHECK(curve->step(shape).value == 10 + 6 + 1.5 + 10 + 4);
  double sum = 0;
  for (const StepTerm& entry : curve->terms(shape)) sum += entry.seconds.value;
  CHECK(sum == curve->step(shape).value);
}

TEST_CASE("padding of a compiled shape costs a step fit as much as tokens of a prompt") {
  const auto curve = make_step_fit(fit());
  StepShape shape = decode(3, 40);
  shape.tokens = 16;
  CHECK(curve->step(shape).value == 10 + 13 + 1.5 + 10);
  double sum = 0;
  for (const StepTerm& entry : curve->terms(shape)) sum += entry.seconds.value;
  CHECK(sum == curve->step(shape).value);
}

TEST_CASE("the decode line of a step fit holds for every context") {
  const auto curve = make_step_fit(fit());
  const DecodeLine line = curve->decode_line(3, 40);
  CHECK(line.base_s == 11.5);
  CHECK(line.slope_s_per_token == 0.25);
  CHECK(line.last_context == std::numeric_limits<Tokens>::max());
  CHECK(curve->step(decode(3, 40)).value == 11.5 + 10);
}

TEST_CASE("with only a base every step takes the same time") {
  StepFit fixed;
  fixed.base = Seconds(0.02);
  const auto curve = make_step_fit(fixed);
  CHECK(curve->step(decode(1, 1)).value == 0.02);
  CHECK(curve->step(decode(500, 100'000)).value == 0.02);
}

TEST_CASE("a step beyond the log is extrapolated and marked") {
  StepFit limited = fit();
  limited.max_tokens = 100;
  limited.max_decode_requests = 10;
  limited.max_decode_context = 1000;
  limited.max_prefill_context = 50;
  const auto curve = make_step_fit(limited);
  CHECK(curve->in_range(decode(10, 1000)));
  CHECK_FALSE(curve->in_range(decode(11, 1000)));
  CHECK_FALSE(curve->in_range(decode(10, 1001)));
  PrefillChunk chunk{91, 50};
  StepShape shape;
  shape.tokens = 91;
  shape.prefill = {&chunk, 1};
  CHECK(curve->in_range(shape));
  chunk.context = 51;
  CHECK_FALSE(curve->in_range(shape));
  chunk.context = 0;
  shape.tokens = 101;
  CHECK_FALSE(curve->in_range(shape));
  CHECK(curve->step(decode(11, 2000)).value == 10 + 5.5 + 500);
  CHECK(make_step_fit(fit())->in_range(decode(1'000'000, 1'000'000)));
}

TEST_CASE("a line of a step fit ends where the log does and goes on alike") {
  StepFit limited = fit();
  limited.max_decode_context = 1000;
  const auto curve = make_step_fit(limited);
  const DecodeLine inside = curve->decode_line(3, 1000);
  const DecodeLine outside = curve->decode_line(3, 1001);
  CHECK(inside.last_context == 1000);
  CHECK(outside.last_context == std::numeric_limits<Tokens>::max());
  CHECK(inside.base_s == outside.base_s);
  CHECK(inside.slope_s_per_token == outside.slope_s_per_token);
}

TEST_CASE("a step fit that could run backwards is refused") {
  StepFit bad = fit();
  bad.per_token = Seconds(-1e-9);
  CHECK_THROWS_AS(make_step_fit(bad), ModelError);
  bad = fit();
  bad.base = Seconds(std::numeric_limits<double>::infinity());
  CHECK_THROWS_AS(make_step_fit(bad), ModelError);
  CHECK_THROWS_WITH(make_step_fit(StepFit{}), "a step-fit needs a coefficient above zero");
}

}  // namespace
}  // namespace poolcast
