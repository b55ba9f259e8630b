// SPDX-License-Identifier: Apache-2.0
// Experts over devices, padding to captured graphs, the host beside the device: a roofline by hand.
#include <catch2/catch.hpp>

#include "models/error.h"
#include "models/expert_skew.h"
#include "tests/units/models/shapes.h"

namespace poolcast {
namespace {

using namespace test;

constexpr double kFast = 1e30;  // a resource that never limits

double experts(const Accelerator& accelerator, const Layout& layout, double imbalance, std::int64_t tokens = 1) {
  RooflineOptions options = ideal();
  options.expert_imbalance = imbalance;
  return term(*make_roofline(accelerator, tiny_moe(), layout, options), decode(tokens, 0), "experts");
}

double exchange(const Layout& layout, double imbalance, double latency_s = 0) {
  RooflineOptions options = ideal();
  options.expert_imbalance = imbalance;
  options.link_latency = Seconds(latency_s);
  return term(*make_roofline(machine(kFast, kFast, 1e3), tiny_moe(), layout, options), decode(1, 0), "expert exchange");
}

TEST_CASE("the busiest group of experts reads those that all ranks' tokens touch") {
  // Four ranks of a token each, two of eight experts a device: 4 tokens choose an expert with 2/8 each, so
  // 2 (1 - 0.75^4) = 1.3671875 of the two are touched, 15,000 weights * 2 B; 4 * 2 / 4 = 2 pairs of 350 values * 2 B.
  CHECK(experts(machine(kFast, 1e6), {1, 1, 4, 4}, 1) == Approx((1.3671875 * 30'000 + 2 * 700) / 1e6));
  // Twice the mean: chosen with 4/8 each, 2 (1 - 0.5^4) = 1.875 touched, 4 pairs.
  CHECK(experts(machine(kFast, 1e6), {1, 1, 4, 4}, 2) == Approx((1.875 * 30'000 + 4 * 700) / 1e6));
  // Computing takes 2 operations a weight and pair.
  CHECK(experts(machine(1e6, kFast), {1, 1, 4, 4}, 1) == Approx(2 * 2 * 15'000 / 1e6));
  CHECK(experts(machine(1e6, kFast), {1, 1, 4, 4}, 1.5) == Approx(1.5 * 2 * 2 * 15'000 / 1e6));
  // Within one rank: a token, four of the experts on a device, each cut over 5: 4 * 0.25 touched, 1 pair of
  // (100 -> 20, 10 -> 100).
  CHECK(experts(machine(kFast, 1e6), {10, 1, 3, 2}, 1) == Approx((1 * 3'000 * 2 + 1 * 230 * 2) / 1e6));
}

TEST_CASE("tokens travel to other devices' experts and back where ranks share them") {
  // None of the two experts of another device with 6/8 * 5/7 = 15/28, so 3 * 13/28 devices; 100 values * 2 B, two ways.
  CHECK(exchange({1, 1, 4, 4}, 1) == Approx(2 * 3 * 13 / 28.0 * 200 / 1e3));
  CHECK(exchange({1, 1, 4, 4}, 2) == Approx(2 * 2 * 3 * 13 / 28.0 * 200 / 1e3));
  CHECK(exchange({1, 1, 4, 4}, 4) == Approx(2 * 3 * 200 / 1e3));  // no token travels to a device twice
  CHECK(exchange({1, 1, 4, 4}, 1, 0.1) == Approx(2 * (3 * 13 / 28.0 * 200 / 1e3 + 3 * 0.1)));
  CHECK(exchange({10, 1, 1, 2}, 1) == 0);  // the all-reduce of a rank does it
  CHECK(exchange({10, 1, 2, 2}, 1) == 0);

  // With tp 2 a device sends half the tokens, and one of the two all-reduces of a layer is left.
  TransformerShape shape = dense_shape("square", 1, 100, 10, 10, 10, 200, 1000);
  shape.moe = MoeShape{8, 2, 50, 0, 0};
  const auto apart = make_roofline(machine(kFast, kFast, 1e3), shape, {2, 1, 2, 1}, ideal());
  const auto shared = make_roofline(machine(kFast, kFast, 1e3), shape, {2, 1, 2, 4}, ideal());
  CHECK(term(*apart, decode(1, 0), "all-reduce") == Approx(2 * 2 * 0.5 * 200 / 1e3));
  CHECK(term(*shared, decode(1, 0), "all-reduce") == Approx(2 * 0.5 * 200 / 1e3));
  CHECK(term(*shared, decode(1, 0), "expert exchange") == Approx(2 * 3 * 13 / 28.0 * 100 / 1e3));
}

TEST_CASE("the imbalance that follows from the popularity of experts") {
  const MoeShape moe{4, 1, 50, 0, 0};
  CHECK(expert_imbalance(moe, 2, 0) == 1);
  // Weights 1, 1/2, 1/3, 1/4, of which the first group has 1 + 1/3 of 25/12: 0.64 of the tokens, 1.28 of the mean.
  CHECK(expert_imbalance(moe, 2, 1) == 1.28);
  // Two of four: 2 * 12/25 of the tokens use the first.
  CHECK(expert_imbalance({4, 2, 50, 0, 0}, 2, 1) == 1.28);
  // Exponent 3: 1, 1/8, 1/27, 1/64. Every token uses the first, the others share the second choice: their weights add
  // up to 307/1728, so the third has 64/307.
  CHECK(expert_imbalance({4, 2, 50, 0, 0}, 2, 3) == Approx(1 + 64 / 307.0).epsilon(1e-6));
  CHECK(expert_imbalance({4, 4, 50, 0, 0}, 2, 3) == 1);  // every token uses all
  CHECK(expert_imbalance({8, 1, 50, 0, 0}, 8, 50) == Approx(8));
  CHECK_THROWS_AS(expert_imbalance(moe, 2, -1), ModelError);
}

TEST_CASE("an imbalance that cannot be, or has nothing to act on, is refused") {
  RooflineOptions options;
  const auto make = [&](const TransformerShape& shape, const Layout& layout) {
    return make_roofline(machine(1, 1), shape, layout, options);
  };
  options.expert_imbalance = 4.5;
  CHECK_THROWS_WITH(make(tiny_moe(), {1, 1, 8, 8}),
                    "expert_imbalance must be at least 1, and at most ep (8) and experts / experts_per_token (8 / 2)");
  CHECK_THROWS_WITH(make(tiny_moe(), {}), "expert_imbalance needs ep above 1: every device holds all experts");
  CHECK_THROWS_WITH(make(tiny(), {}), "expert_imbalance needs experts, and tiny has none");
  options.expert_imbalance = 0.5;
  CHECK_THROWS_AS(make(tiny_moe(), {1, 1, 8, 8}), ModelError);
  options.expert_imbalance = 1;
  options.expert_skew = 1;
  CHECK_THROWS_WITH(make(tiny(), {}), "expert_skew needs experts, and tiny has none");
}

TEST_CASE("a step of no more tokens than the largest captured graph costs what the next size up costs") {
  RooflineOptions options = ideal();
  const auto plain = make_roofline(machine(1e6, 1e6), tiny(), {}, options);
  options.capture_sizes = {1, 4, 8};
  const auto captured = make_roofline(machine(1e6, 1e6), tiny(), {}, options);
  const auto linear = [](const StepCurve& curve, std::int64_t n) { return term(curve, decode(n, 0), "linear layers"); };
  CHECK(linear(*captured, 1) == linear(*plain, 1));
  CHECK(linear(*captured, 2) == linear(*plain, 4));
  CHECK(linear(*captured, 8) == linear(*plain, 8));
  CHECK(linear(*captured, 9) == linear(*plain, 9));
  // Attention, head and host are those of the requests that are there.
  const double more = linear(*plain, 8) - linear(*plain, 5);
  CHECK(more > 0);
  CHECK(captured->step(decode(5, 77)).value == Approx(plain->step(decode(5, 77)).value + more));
  CHECK(captured->decode_line(5, 77).base_s == Approx(plain->decode_line(5, 77).base_s + more));
  // A step with a chunk is padded too.
  const PrefillChunk chunk[] = {{3, 5}};
  CHECK(captured->step({5, 3, 2, 9, chunk}).value == Approx(plain->step({5, 3, 2, 9, chunk}).value + more));
}

TEST_CASE("a host that works beside the device is felt only as far as it takes longer") {
  RooflineOptions options = ideal();
  options.host_base = Seconds(0.9001);
  options.host_per_request = Seconds(0.1);
  const auto after = make_roofline(machine(kFast, 1e6), tiny(), {}, options);
  options.host_overlap = true;
  const auto beside = make_roofline(machine(kFast, 1e6), tiny(), {}, options);
  // One request on the device: linear 0.1842 s, head (200,000 + 2,200 + 8,000) / 1e6, attention 400 B and 200 B a token
  // of context: 0.3948 s + 0.2 ms a token, so 1.0001 s at 3,026.5 tokens.
  CHECK(after->step(decode(1, 1000)).value == Approx(1.0001 + 0.5948));
  CHECK(beside->step(decode(1, 1000)).value == Approx(1.0001));
  CHECK(term(*beside, decode(1, 1000), "host") == Approx(1.0001 - 0.5948));
  const DecodeLine flat = beside->decode_line(1, 1000);
  CHECK(flat.slope_s_per_token == 0);
  CHECK(flat.last_context == 3026);
  CHECK(beside->decode_line(1, 3027).slope_s_per_token == Approx(2e-4));
  CHECK(beside->step(decode(1, 4000)).value == Approx(0.3948 + 0.8));
  CHECK(term(*beside, decode(1, 4000), "host") == 0);
}

}  // namespace
}  // namespace poolcast
