// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/units/models/shapes.h"

namespace poolcast {
namespace {

using namespace test;

struct Step {
  StepShape shape;
  std::vector<PrefillChunk> chunks;
};

/// Whole numbers drawn by modulo: distributions of the standard library differ between libraries.
std::int64_t draw(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

StepShape view(Step& step) {
  step.shape.prefill = step.chunks;
  return step.shape;
}

Step random_step(std::mt19937_64& random) {
  Step step;
  step.shape.decode_requests = draw(random, 0, 300);
  if (step.shape.decode_requests > 0) step.shape.decode_context = draw(random, step.shape.decode_requests, 400'000);
  step.shape.tokens = step.shape.sampled = step.shape.decode_requests;
  for (std::int64_t n = draw(random, step.shape.tokens > 0 ? 0 : 1, 4); n > 0; --n) {
    step.chunks.push_back({draw(random, 1, 3000), draw(random, 0, 20'000)});
    step.shape.tokens += step.chunks.back().query;
  }
  return step;
}

/// One part of the step grows. A request joins with at least the mean context, where a curve takes contexts at their
/// mean.
Step grown(Step step, std::mt19937_64& random) {
  switch (draw(random, 0, 3)) {
    case 0:
      step.shape.decode_requests += 1;
      step.shape.tokens += 1;
      step.shape.sampled += 1;
      step.shape.decode_context +=
          draw(random, 1, 5000) +
          step.shape.decode_context / (step.shape.decode_requests - 1 + (step.shape.decode_requests == 1));
      break;
    case 1:
      step.shape.decode_context += step.shape.decode_requests > 0 ? draw(random, 1, 5000) : 0;
      break;
    case 2:
      step.shape.sampled += 1;
      break;
    default:
      if (step.chunks.empty()) step.chunks.push_back({});
      const std::int64_t more = draw(random, 1, 100);
      step.chunks.back().query += more;
      step.shape.tokens += more;
      step.chunks.back().context += draw(random, 0, 100);
  }
  return step;
}

std::vector<std::unique_ptr<StepCurve>> curves() {
  RooflineOptions small;  // so that steps fall inside and outside of the tables
  small.table_tokens = 256;
  RooflineOptions captured = small;
  for (std::int64_t n = 1; n <= 320; n += n < 8 ? n : 8) captured.capture_sizes.push_back(n);
  RooflineOptions beside = small;
  beside.host_overlap = true;
  beside.host_base = Seconds(8e-3);
  std::vector<std::unique_ptr<StepCurve>> list;
  for (const Accelerator& accelerator : {machine(989e12, 3.35e12, 450e9), machine(98e12, 0.456e12, 28e9)}) {
    for (const TransformerShape& shape : {llama_8b(), llama_70b(), qwen3_30b_a3b(), deepseek_v3()}) {
      list.push_back(make_roofline(accelerator, shape, {1}, small));
      list.push_back(make_roofline(accelerator, shape, {4}, small));
      list.push_back(make_roofline(accelerator, shape, {4}, captured));
      list.push_back(make_roofline(accelerator, shape, {1}, beside));
      list.push_back(make_roofline(accelerator, shape, {1, 4}, small));
      list.push_back(make_roofline(accelerator, shape, {1, 3, 2}, captured));
      list.push_back(make_roofline(accelerator, shape, {4, 2}, beside));
      if (!shape.moe) continue;
      RooflineOptions skewed = small;
      skewed.expert_imbalance = 1.7;
      list.push_back(make_roofline(accelerator, shape, {4, 1, 2, 2}, skewed));
      list.push_back(make_roofline(accelerator, shape, {4, 1, 2, 8}, skewed));
      skewed.expert_skew = 0.6;
      list.push_back(make_roofline(accelerator, shape, {2, 2, 4, 8}, skewed));
    }
  }
  return list;
}

TEST_CASE("a step does not get shorter when a part of it grows") {
  std::mt19937_64 random(1);
  for (const auto& curve : curves()) {
    for (int trial = 0; trial < 300; ++trial) {
      Step step = random_step(random);
      Step more = grown(step, random);
      INFO(curve->provenance() << ", trial " << trial);
      REQUIRE(curve->step(view(step)).value > 0);
      REQUIRE(curve->step(view(more)).value >= curve->step(view(step)).value * (1 - 1e-12));
    }
  }
}

TEST_CASE("a decode-only step lies on the line of its batch, and lines meet where one ends") {
  std::mt19937_64 random(2);
  for (const auto& curve : curves()) {
    for (int trial = 0; trial < 300; ++trial) {
      const std::int64_t batch = draw(random, 1, 600);
      const Tokens context = draw(random, batch, 2'000'000);
      INFO(curve->provenance() << ", batch " << batch << ", context " << context);
      const DecodeLine line = curve->decode_line(batch, context);
      REQUIRE(line.last_context >= context);
      const Tokens last = std::min<Tokens>(line.last_context, 4'000'000);
      for (Tokens at : {context, (context + last) / 2, last}) {
        if (at < context) continue;
        const double on_line = line.base_s + line.slope_s_per_token * static_cast<double>(at);
        REQUIRE(curve->step(decode(batch, at)).value == Approx(on_line).epsilon(1e-12));
      }
      if (line.last_context < 4'000'000) {
        const DecodeLine next = curve->decode_line(batch, line.last_context + 1);
        const double at = static_cast<double>(line.last_context + 1);
        // In a pipeline the line of another micro-batch may have ended.
        REQUIRE(next.slope_s_per_token >= line.slope_s_per_token * (curve->busy() ? 1 - 1e-12 : 1 + 1e-12));
        REQUIRE(next.base_s + next.slope_s_per_token * at >= line.base_s + line.slope_s_per_token * at);
      }
    }
  }
}

TEST_CASE("the terms of a step add up to it") {
  std::mt19937_64 random(3);
  for (const auto& curve : curves()) {
    for (int trial = 0; trial < 100; ++trial) {
      Step step = random_step(random);
      double sum = 0;
      for (const StepTerm& entry : curve->terms(view(step))) {
        REQUIRE(entry.seconds.value >= 0);
        sum += entry.seconds.value;
      }
      REQUIRE(curve->step(view(step)).value == Approx(sum).epsilon(1e-12));
    }
  }
}

TEST_CASE("an average stage of a pipeline works for no longer than the round, on lines that hold as far") {
  std::mt19937_64 random(4);
  for (const auto& curve : curves()) {
    if (curve->busy() == nullptr) continue;
    for (int trial = 0; trial < 200; ++trial) {
      Step step = random_step(random);
      INFO(curve->provenance() << ", trial " << trial);
      REQUIRE(curve->busy()->step(view(step)).value > 0);
      REQUIRE(curve->busy()->step(view(step)).value <= curve->step(view(step)).value * (1 + 1e-12));
      REQUIRE(term(*curve, view(step), "pipeline bubble") >= 0);
      const std::int64_t batch = draw(random, 1, 600);
      const Tokens context = draw(random, batch, 2'000'000);
      const DecodeLine work = curve->busy()->decode_line(batch, context);
      REQUIRE(work.last_context >= curve->decode_line(batch, context).last_context);
      REQUIRE(curve->busy()->step(decode(batch, context)).value == Approx(work.at(context)).epsilon(1e-12));
    }
  }
}

TEST_CASE("a table changes no value") {
  RooflineOptions with, without;
  with.table_tokens = 512;
  without.table_tokens = 0;
  const Accelerator accelerator = machine(989e12, 3.35e12, 450e9);
  const auto looked_up = make_roofline(accelerator, deepseek_v3(), {8}, with);
  const auto computed = make_roofline(accelerator, deepseek_v3(), {8}, without);
  for (std::int64_t batch = 1; batch <= 520; ++batch) {
    REQUIRE(looked_up->step(decode(batch, 1000 * batch)) == computed->step(decode(batch, 1000 * batch)));
    REQUIRE(looked_up->decode_line(batch, 1).base_s == computed->decode_line(batch, 1).base_s);
  }
}

TEST_CASE("a faster machine is faster by the ratio when one resource limits everything") {
  RooflineOptions options = ideal();
  const auto slow = make_roofline(machine(1e30, 1e12), llama_8b(), {}, options);
  const auto fast = make_roofline(machine(1e30, 3e12), llama_8b(), {}, options);
  CHECK(slow->step(decode(20, 30'000)).value == Approx(3 * fast->step(decode(20, 30'000)).value));
}

}  // namespace
}  // namespace poolcast
