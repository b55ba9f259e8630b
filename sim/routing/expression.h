// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/routing/endpoints.h"

namespace poolcast::routing {

/// An expression that cannot be compiled; `column` counts from 1.
class ExpressionFault : public std::runtime_error {
 public:
  ExpressionFault(std::size_t at, const std::string& message, std::vector<std::string> known = {})
      : std::runtime_error(message), column(at), allowed(std::move(known)) {}
  std::size_t column;
  std::vector<std::string> allowed;  ///< the names that could stand there
};

/// A total expression over what a router sees: no loops, no calls but min, max, clamp, abs and floor, and an answer
/// whatever the input. It is compiled once and carried out operation by operation over all endpoints.
///
///   c ? a : b    || && !    == != < <= > >=    + - * / %    numbers, true, false    min(a, b, …) clamp(x, low, high)
///   request.prompt_tokens …    endpoint.waiting …    pool.size, pool.min_waiting, pool.max_…, pool.mean_…, pool.sum_…
///
/// Values are doubles; false is 0 and anything else true. A division or remainder by zero has no value (NaN), and what
/// is computed from no value has none, but: `false && x` is false, `true || x` is true, in either order, and `?:`
/// looks at the chosen side only.
class Expression {
 public:
  explicit Expression(std::string_view text);  ///< throws ExpressionFault

  /// Writes the value for candidates[i] to results[i]; `pool.*` is over the candidates.
  void evaluate(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
                std::span<double> results);

  /// "endpoint.waiting", … in alphabetical order.
  static std::vector<std::string> names();

 private:
  friend class ExpressionCompiler;
  // In this order: those that add a column, those that change the last one, those that make one of the last two.
  enum class Op : std::uint8_t {
    kConstant,
    kRequest,
    kModel,
    kSize,
    kFold,
    kEndpoint,
    kNegate,
    kNot,
    kAbs,
    kFloor,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kLess,
    kLessEqual,
    kEqual,
    kUnequal,
    kAnd,
    kOr,
    kMin,
    kMax,
    kSelect  // of the last three
  };
  enum class Over : std::uint8_t { kLeast, kMost, kMean, kSum };
  /// A figure of the whole pool, computed once however often it stands in the expression.
  struct Fold {
    Over over;
    std::uint16_t field;
    double value = 0;
  };
  struct Step {
    Op op;
    std::uint16_t field = 0;  ///< of a request or an endpoint; or which fold
    double constant = 0;
  };

  void compute_folds(const Endpoints& endpoints, std::span<const std::uint32_t> candidates);
  void push(const Step& step, const RequestView& request, const Endpoints& endpoints,
            std::span<const std::uint32_t> candidates, double* column) const;
  static void change(Op op, double* column, std::size_t n);
  static void combine(Op op, double* columns, std::size_t n);

  std::vector<Step> steps_;
  std::vector<Fold> folds_;
  std::size_t depth_ = 0;        ///< columns needed at once
  std::vector<double> columns_;  ///< scratch: depth times candidates
};

}  // namespace poolcast::routing
