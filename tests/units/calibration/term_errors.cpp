// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/term_errors.h"

#include <catch2/catch.hpp>

#include "models/kernel_tables.h"

using namespace poolcast;

namespace {

/// Two layers: 1 ms a token, 3 ms a sampled token, attention 2 ms a query token and 5 ms a decode, 7 ms of host a step.
std::shared_ptr<const StepCurve> made_up_curve() {
  KernelTables t;
  t.layers = 2;
  t.layer = {{0, 100}, {0, 0.05}};
  t.per_sequence = {{0, 100}, {0, 0.3}};
  t.attention = {{0, 100}, {0, 1000}, {0, 100}, {0, 1000}, {0, 0, 0.1, 0.1}, {0, 0, 0.25, 0.25}, {}};
  t.host = Seconds(0.007);
  return make_kernel_table_curve(t);
}

LiveStep step(std::int64_t decodes, std::vector<PrefillChunk> prefill, double linear) {
  LiveStep s;
  s.shape.tokens = s.shape.decode_requests = decodes;
  for (const PrefillChunk& chunk : prefill) s.shape.tokens += chunk.query;
  s.shape.sampled = decodes;
  s.shape.decode_context = 20 * decodes;
  s.shape.prefill = std::move(prefill);
  s.terms[LiveTerm::kLinear] = linear;
  s.terms[LiveTerm::kDecode] = 0.01;
  s.terms[LiveTerm::kOther] = 0.01;
  s.device = Seconds((linear + 0.02) / 2);
  s.wall = Seconds(linear + 0.05);
  return s;
}

}  // namespace

TEST_CASE("the terms of steps stand beside those of the curve, decodes and steps with prompts apart") {
  const std::vector<LiveStep> steps = {step(2, {}, 0.08), step(3, {}, 0.10), step(1, {{10, 0}}, 0.20)};
  const auto kinds = term_errors(*made_up_curve(), steps, LiveClock::kDevice);
  REQUIRE(kinds.size() == 2);
  const TermErrors &decodes = kinds[0], &prompts = kinds[1];
  CHECK(std::string(decodes.kind) == "decodes only");
  CHECK(decodes.steps == 2);
  CHECK(decodes.predicted[LiveTerm::kLinear] == Approx(0.005));
  CHECK(decodes.predicted[LiveTerm::kPrefill] == 0);
  CHECK(decodes.predicted[LiveTerm::kDecode] == Approx(0.025));
  CHECK(decodes.predicted[LiveTerm::kHead] == Approx(0.015));
  CHECK(decodes.predicted[LiveTerm::kOther] == Approx(0.014));
  // By the device the steps took half of what they took by the wall.
  CHECK(decodes.measured[LiveTerm::kLinear] == Approx(0.09));
  CHECK(decodes.measured[LiveTerm::kOther] == Approx(0.01));
  CHECK(decodes.measured.sum() == Approx(0.11));
  CHECK(prompts.steps == 1);
  CHECK(prompts.predicted[LiveTerm::kPrefill] == Approx(0.02));
  CHECK(prompts.predicted[LiveTerm::kDecode] == Approx(0.005));
  CHECK(prompts.predicted.sum() == Approx(0.011 + 0.02 + 0.005 + 0.003 + 0.007));
}

TEST_CASE("by the wall clock, what passes between two steps belongs to no kernel") {
  const auto kinds = term_errors(*made_up_curve(), std::vector<LiveStep>{step(2, {}, 0.08)}, LiveClock::kWall);
  REQUIRE(kinds.size() == 1);
  CHECK(kinds[0].measured[LiveTerm::kLinear] == Approx(0.08));
  CHECK(kinds[0].measured[LiveTerm::kOther] == Approx(0.01 + 0.03));
  CHECK(kinds[0].measured.sum() == Approx(0.13));
}
