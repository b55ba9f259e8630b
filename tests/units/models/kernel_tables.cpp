// SPDX-License-Identifier: Apache-2.0
#include "models/kernel_tables.h"

#include <catch2/catch.hpp>

using namespace poolcast;

namespace {

/// One layer: 10 + tokens of linear time, attention prefill = chunk + context / 100, decode = requests * (1 + kv /
/// 100), together the sum; all in microseconds.
KernelTables tables() {
  KernelTables t;
  t.layers = 2;
  t.layer = {{1, 100}, {11e-6, 110e-6}};
  t.once = {{1, 100}, {1e-6, 100e-6}};
  t.per_sequence = {{1, 4}, {5e-6, 20e-6}};
  AttentionTable& a = t.attention;
  a.chunk = {10, 100};
  a.context = {0, 1000};
  a.requests = {1, 4};
  a.kv = {100, 300, 1000};
  const auto prefill = [](double c, double k) { return (c + k / 100) * 1e-6; };
  const auto decode = [](double n, double k) { return n * (1 + k / 100) * 1e-6; };
  for (const auto c : a.chunk) {
    for (const auto k : a.context) a.prefill.push_back(prefill(double(c), double(k)));
  }
  for (const auto n : a.requests) {
    for (const auto k : a.kv) a.decode.push_back(decode(double(n), double(k)));
  }
  for (const auto c : a.chunk) {
    for (const auto k : a.context) {
      for (const auto n : a.requests) {
        for (const auto kv : a.kv) a.mixed.push_back(prefill(double(c), double(k)) + decode(double(n), double(kv)));
      }
    }
  }
  t.host = Seconds(3e-6);
  t.source = "test";
  return t;
}

double us(Seconds s) { return s.value * 1e6; }

}  // namespace

TEST_CASE("a step is the sum of what the tables hold, linear between their points") {
  const auto curve = make_kernel_table_curve(tables());
  // 2 layers * (10 + 3 linear, 3 * (1 + 200/100) attention) + 3 once + 15 head + 3 host
  CHECK(us(curve->step({3, 3, 3, 600, {}})) == Approx(2 * (13 + 9) + 3 + 15 + 3));
  const std::vector<PrefillChunk> chunk = {{40, 500}};
  CHECK(us(curve->step({40, 1, 0, 0, chunk})) == Approx(2 * (50 + 45) + 40 + 5 + 3));
  CHECK(us(curve->step({42, 3, 2, 400, chunk})) == Approx(2 * (52 + 45 + 2 * 3) + 42 + 15 + 3));
  double sum = 0;
  for (const StepTerm& term : curve->terms({42, 3, 2, 400, chunk})) sum += us(term.seconds);
  CHECK(sum == Approx(us(curve->step({42, 3, 2, 400, chunk}))));
}

TEST_CASE("the line of a decode step is the step itself, and ends where a cell of the table ends") {
  const auto curve = make_kernel_table_curve(tables());
  for (const std::int64_t n : {1, 2, 4, 7}) {
    for (const Tokens mean : {10, 100, 150, 300, 301, 999, 1000, 1500}) {
      const Tokens context = mean * n;
      const DecodeLine line = curve->decode_line(n, context);
      INFO(n << " requests, " << mean << " tokens each");
      CHECK(line.base_s + line.slope_s_per_token * double(context) ==
            Approx(curve->step({n, n, n, context, {}}).value));
      CHECK(line.slope_s_per_token >= 0);
      CHECK(line.last_context >= context);
      const Tokens border = mean <= 100 ? 100 : mean < 300 ? 300 : 1000;
      if (mean <= 1000) CHECK(line.last_context == border * n);
    }
  }
  CHECK(curve->in_range({4, 4, 4, 4000, {}}));
  CHECK_FALSE(curve->in_range({4, 4, 4, 4001, {}}));
  CHECK_FALSE(curve->in_range({5, 5, 5, 500, {}}));
  const std::vector<PrefillChunk> far = {{50, 1001}};
  CHECK_FALSE(curve->in_range({50, 1, 0, 0, far}));
}

TEST_CASE("several prompts of a step cost what each costs, less the launches that they share") {
  const auto curve = make_kernel_table_curve(tables());
  const std::vector<PrefillChunk> two = {{20, 0}, {30, 0}};
  // The cheapest entry, 10 us, stands for a launch: 20 + 30 - 10.
  CHECK(us(curve->step({50, 2, 0, 0, two})) == Approx(2 * (60 + 40) + 50 + 10 + 3));
}

TEST_CASE("noise in a table never makes a larger step cheaper, and captured batch sizes pad it") {
  KernelTables noisy = tables();
  noisy.layer = {{1, 2, 3, 100}, {11e-6, 14e-6, 13e-6, 110e-6}};
  noisy.attention.decode[1] = 1e-9;  // 1 request, 300 tokens
  const auto curve = make_kernel_table_curve(noisy);
  CHECK(curve->step({3, 1, 1, 300, {}}).value >= curve->step({2, 1, 1, 300, {}}).value);
  CHECK(curve->step({1, 1, 1, 300, {}}).value >= curve->step({1, 1, 1, 100, {}}).value);
  KernelTables padded = tables();
  padded.capture_sizes = {1, 2, 4, 8};
  const auto captured = make_kernel_table_curve(padded);
  const auto plain = make_kernel_table_curve(tables());
  CHECK(us(captured->step({3, 3, 3, 600, {}})) == Approx(us(plain->step({3, 3, 3, 600, {}})) + 2 + 1));
  CHECK(us(captured->step({9, 3, 3, 600, {}})) == Approx(us(plain->step({9, 3, 3, 600, {}}))));
}
