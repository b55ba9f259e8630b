// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/expression.h"

#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "sim/routing/registry.h"

using namespace poolcast::routing;

namespace {

Endpoints three() {
  Endpoints e;
  e.reset(3);
  e.waiting = {0, 2, 8};
  e.running = {1, 0, 5};
  e.kv_usage = {0.5, 0.25, 1};
  e.prefix = {{1, 4, 16}, {0, 0, 16}, {4, 4, 16}};
  return e;
}

std::vector<double> values(const std::string& text) {
  RequestView request;
  request.prompt_tokens = 1000;
  request.priority = -1;
  std::vector<double> results(3);
  Expression(text).evaluate(request, three(), std::vector<std::uint32_t>{0, 1, 2}, results);
  return results;
}

/// Of an expression that is alike for all endpoints; "none" when it has no value.
std::string value(const std::string& text) {
  const auto all = values(text);
  return std::isnan(all[0]) ? "none" : shortest(all[0]);
}

/// "COLUMN: message", or "no fault".
std::string fault(const std::string& text) {
  try {
    Expression{text};
  } catch (const ExpressionFault& fault) {
    return std::to_string(fault.column) + ": " + fault.what();
  }
  return "no fault";
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("operators bind as in C") {
  CHECK(value("1 + 2 * 3 - 4 / 2") == "5");
  CHECK(value("(1 + 2) * 3") == "9");
  CHECK(value("10 - 3 - 2") == "5");
  CHECK(value("100 / 10 / 5 * 2") == "4");
  CHECK(value("7 % 4 + -7 % 4") == "0");
  CHECK(value("-2 * -3") == "6");
  CHECK(value("1 + 1 < 3 && 2 > 1 || false") == "1");
  CHECK(value("1 || 0 && 0") == "1");
  CHECK(value("!1 == 0") == "1");
  CHECK(value("3 >= 3 && 3 <= 3 && !(3 > 3) && 3 != 4") == "1");
  CHECK(value("0 ? 1 : 0 ? 2 : 3") == "3");
  CHECK(value("1.5e2 + .5") == "150.5");
}

TEST_CASE("functions: min, max, clamp, abs, floor") {
  CHECK(value("min(3, 1, 2) + max(5) + max(1, 2)") == "8");
  CHECK(value("clamp(7, 0, 5) + clamp(-7, 0, 5) + clamp(3, 0, 5)") == "8");
  CHECK(value("abs(-2.5) + floor(-2.5)") == "-0.5");
}

TEST_CASE("columns of the endpoints, of the request, and over the pool") {
  CHECK(values("endpoint.waiting + 10 * endpoint.running") == Values{10, 2, 58});
  CHECK(values("endpoint.prefix_share") == Values{0.25, 0, 1});
  CHECK(values("request.prompt_tokens * request.priority") == Values{-1000, -1000, -1000});
  CHECK(values("pool.max_waiting - endpoint.waiting") == Values{8, 6, 0});
  CHECK(value("pool.size + pool.min_running + pool.sum_running + pool.mean_waiting * 3") == "19");
  CHECK(values("endpoint.waiting > 1 ? 1 - endpoint.kv_usage : 2") == Values{2, 0.75, 0});
}

TEST_CASE("what has no value is told apart, and only what depends on it") {
  for (const char* text :
       {"1 / 0", "0 / 0", "5 % 0", "1 / 0 < 2", "1 / 0 > 2", "1 / 0 == 1 / 0", "-(1 / 0)", "!(1 / 0)", "min(1, 1 / 0)",
        "max(1 / 0, 1)", "1 / 0 && true", "false || 1 / 0", "1 / 0 ? 1 : 1"}) {
    INFO(text);
    CHECK(value(text) == "none");
  }
  CHECK(value("false && 1 / 0") == "0");
  CHECK(value("1 / 0 && false") == "0");
  CHECK(value("1 / 0 || true") == "1");
  CHECK(value("true ? 4 : 1 / 0") == "4");
  CHECK(value("false ? 1 / 0 : 4") == "4");
}

TEST_CASE("an expression that cannot be read says where") {
  CHECK(fault("1 +") == "4: the expression ends too early");
  CHECK(fault("1 2") == "3: expected an operator");
  CHECK(fault("(1 + 2") == "7: expected \")\"");
  CHECK(fault("1 ? 2") == "6: expected \":\"");
  CHECK(fault("1 + endpoint.wating") == "5: unknown name \"endpoint.wating\"");
  CHECK(fault("pool.wrong_waiting") == "1: unknown name \"pool.wrong_waiting\"");
  CHECK(fault("sqrt(2)") == "1: unknown function \"sqrt\"");
  CHECK(fault("clamp(1, 2)") == "11: expected \",\"");
  CHECK(fault("1 & 2") == "3: expected an operator");
  CHECK(fault(std::string(200, '(')) == "51: the expression is nested too deep");
  CHECK(fault(std::string(200, '-') + "1") == "100: the expression is nested too deep");
  std::string sum = "1";
  for (int i = 0; i < 600; ++i) sum += "+1";
  CHECK_THAT(fault(sum), Catch::Contains("the expression is too long"));
}

TEST_CASE("expr-filter keeps what is true, expr-scorer gives 0 where there is no value") {
  const auto make = [](const char* type, const std::string& expression) {
    const Value map = map_value({{"expression", text_value(expression)}});
    return make_plugin(*find_plugin(type), map, {.random = poolcast::RandomStream(1, "x")});
  };
  std::vector<std::uint32_t> kept{2, 0, 1};
  const auto filter = make("expr-filter", "1 / endpoint.running < 1.5");
  dynamic_cast<Filter&>(*filter).filter({}, three(), kept);
  CHECK(kept == std::vector<std::uint32_t>{2, 0});
  const auto scorer = make("expr-scorer", "1 / endpoint.running");
  Values scores(3);
  dynamic_cast<Scorer&>(*scorer).score({}, three(), std::vector<std::uint32_t>{0, 1, 2}, scores);
  CHECK(scores == Values{1, 0, 0.2});
  CHECK_THROWS_WITH(make("expr-scorer", "1 +"), "the expression ends too early at character 4");
}
