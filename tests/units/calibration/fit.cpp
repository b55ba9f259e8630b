// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "calibration/validate.h"
#include "models/kernel_tables.h"
#include "tests/units/calibration/small.h"

using namespace poolcast;
using namespace poolcast::calibration;
using namespace poolcast::testing;

TEST_CASE("a curve from a calibration adds up what its parts took, by the CPU clock") {
  Calibration c = small_calibration();
  fit(c);
  REQUIRE(c.head.curve);
  const auto curve = make_kernel_table_curve(*c.head.curve);
  const std::vector<PrefillChunk> chunk = {{128, 100}};
  const double prefill = curve->step({128, 1, 0, 0, chunk}).value;
  CHECK(prefill == Approx(2 * line_s(128) + 4 * line_s(128) + line_s(1) + 2 * prefill_s(128, 100)));
  const double decode = curve->step({8, 8, 8, 800, {}}).value;
  CHECK(decode == Approx(6 * line_s(8) + line_s(8) + 2 * decode_s(8, 100)));
}

TEST_CASE("a point's time is the mean of its samples by the CPU's clock, freaks cut, and their median by any other") {
  Point point;
  point.wall_s = {1, 2, 30};
  point.cpu_s = {1, 1, 2, 10};  // the median is 1.5, so 10 counts as 4.5
  CHECK(seconds_of(point, "cpu") == Approx(8.5 / 4));
  CHECK(seconds_of(point, "wall") == 2);
  point.cpu_s.clear();
  CHECK(seconds_of(point, "cpu") == 2);
}

TEST_CASE("a curve knows how far it was measured and goes on beyond that") {
  Calibration c = small_calibration();
  fit(c);
  const auto curve = make_kernel_table_curve(*c.head.curve);
  const std::vector<PrefillChunk> last = {{512, 0}}, long_chunk = {{513, 0}}, far = {{16, 1001}};
  CHECK(curve->in_range({512, 1, 0, 0, last}));
  CHECK_FALSE(curve->in_range({513, 1, 0, 0, long_chunk}));
  CHECK_FALSE(curve->in_range({16, 1, 0, 0, far}));
  CHECK(curve->in_range({32, 32, 32, 32'000, {}}));
  CHECK_FALSE(curve->in_range({32, 32, 32, 32'001, {}}));
  CHECK_FALSE(curve->in_range({33, 33, 33, 33, {}}));
  // Straight lines are met exactly, far outside too.
  CHECK(curve->step({2000, 1, 0, 0, {}}).value ==
        Approx(6 * line_s(2000) + line_s(1) + 2 * decode_s(1, 16)).epsilon(0.01));
}

TEST_CASE("held-out shapes judge each term by regime") {
  Calibration c = small_calibration();
  fit(c);
  const auto of = [&](const std::string& term, const std::string& regime) {
    const auto& e = c.head.errors;
    const auto found =
        std::find_if(e.begin(), e.end(), [&](const TermError& t) { return t.term == term && t.regime == regime; });
    REQUIRE(found != e.end());
    return *found;
  };
  CHECK(of("linear layers", "1 to 16").shapes == 1);
  CHECK(of("linear layers", "17 to 256").shapes == 2);
  CHECK(of("linear layers", "17 to 256").p95 < 1e-9);  // a straight line
  // Quadratic in the query: (16, 128) is linear, 48 lies below the chord by 1e-3 (48-16)(128-48)/2 us.
  const double chord = prefill_s(16, 0) + (prefill_s(128, 0) - prefill_s(16, 0)) * 32 / 112;
  CHECK(of("prefill attention", "no context").median == Approx(chord / prefill_s(48, 0) - 1));
  CHECK(of("decode attention", "2 to 16 requests").p95 < 1e-9);
}

TEST_CASE("a held-out shape is no part of the fit, and a bad one is seen") {
  Calibration c = small_calibration();
  add(c, 4, {5, 500}, 3 * decode_s(5, 500), true);
  fit(c);
  const auto curve = make_kernel_table_curve(*c.head.curve);
  CHECK(curve->step({5, 5, 5, 2500, {}}).value == Approx(7 * line_s(5) + 2 * decode_s(5, 500)));
  const auto& e = c.head.errors;
  CHECK(
      std::any_of(e.begin(), e.end(), [](const TermError& t) { return t.term == "decode attention" && t.p95 > 0.5; }));
}

TEST_CASE("without a term there is no curve, and the reason is said") {
  Calibration c = small_calibration();
  c.points.erase(std::remove_if(c.points.begin(), c.points.end(), [](const Point& p) { return p.part == 4; }),
                 c.points.end());
  fit(c);
  CHECK_FALSE(c.head.curve);
  CHECK(c.head.why_no_curve == "nothing is measured of decode attention");
}

TEST_CASE("step records give the host's time and what mixed steps cost beyond the sum") {
  Calibration c = small_calibration();
  fit(c);
  const auto sum = make_kernel_table_curve(*c.head.curve);
  for (int i = 0; i < 60; ++i) {
    StepRecord s;
    s.decode_requests = i % 3 == 0 ? 0 : 1 + i % 8;
    s.decode_context = s.decode_requests * (50 + 7 * i);
    if (i % 3 != 1) s.prefill = {{16 + 4 * i, 10 * i}};
    s.tokens = s.decode_requests + (s.prefill.empty() ? 0 : s.prefill[0].query);
    s.sampled = s.decode_requests + 1;
    s.held_out = i % 4 == 0;
    const double requests = double(s.decode_requests) + double(s.prefill.size());
    s.seconds = sum->step({s.tokens, s.sampled, s.decode_requests, s.decode_context, s.prefill}).value + 50e-6 +
                2e-6 * requests;
    if (i % 3 == 2) {
      const StepShape alone{s.decode_requests, 0, s.decode_requests, s.decode_context, {}};
      s.seconds += 0.7 * sum->terms(alone)[3].seconds.value;
    }
    c.steps.push_back(s);
  }
  fit(c);
  REQUIRE(c.head.curve);
  CHECK(c.head.curve->host.value == Approx(50e-6).epsilon(1e-3));
  CHECK(c.head.curve->host_per_request.value == Approx(2e-6).epsilon(1e-2));
  CHECK(c.head.curve->attention.mixed_decode_share == Approx(0.7).epsilon(1e-2));
  CHECK(c.head.curve->attention.mixed_prefill_share == Approx(0).margin(1e-2));
  CHECK(c.head.errors.back().term == "whole step");
  CHECK(c.head.errors.back().p95 < 0.01);
}
