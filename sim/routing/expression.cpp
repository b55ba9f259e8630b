// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/expression.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/routing/expression_fields.h"

namespace poolcast::routing {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double compared(bool result, double a, double b) { return a != a || b != b ? kNone : result ? 1 : 0; }
bool is_true(double x) { return x != 0 && x == x; }

double logical_and(double a, double b) {
  if (a == 0 || b == 0) return 0;
  return is_true(a) && is_true(b) ? 1 : kNone;
}
double logical_or(double a, double b) {
  if (is_true(a) || is_true(b)) return 1;
  return a == 0 && b == 0 ? 0 : kNone;
}
double least(double a, double b) { return a != a || b != b ? kNone : std::min(a, b); }
double most(double a, double b) { return a != a || b != b ? kNone : std::max(a, b); }

template <class F>
double folded(const double* values, std::size_t n, double start, F fold) {
  for (std::size_t i = 0; i < n; ++i) start = fold(start, values[i]);
  return start;
}

template <class F>
void each(double* a, std::size_t n, F f) {
  for (std::size_t i = 0; i < n; ++i) a[i] = f(a[i]);
}
/// Over two neighbouring columns; the result stands in the first.
template <class F>
void each_pair(double* __restrict a, std::size_t n, F f) {
  const double* __restrict b = a + n;
  for (std::size_t i = 0; i < n; ++i) a[i] = f(a[i], b[i]);
}

/// c ? a : b, over three neighbouring columns.
void select(double* __restrict c, std::size_t n) {
  const double* __restrict a = c + n;
  const double* __restrict b = a + n;
  for (std::size_t i = 0; i < n; ++i) c[i] = c[i] != c[i] ? kNone : c[i] != 0 ? a[i] : b[i];
}

}  // namespace

void Expression::compute_folds(const Endpoints& endpoints, std::span<const std::uint32_t> candidates) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::size_t n = candidates.size();
  const auto sum = [](double a, double b) { return a + b; };
  double* const column = columns_.data();
  for (Fold& fold : folds_) {
    endpoint_fields()[fold.field].read(endpoints, candidates, column);
    switch (fold.over) {
      case Over::kLeast:
        fold.value = folded(column, n, kInfinity, least);
        break;
      case Over::kMost:
        fold.value = folded(column, n, -kInfinity, most);
        break;
      case Over::kMean:
        fold.value = folded(column, n, 0, sum) / static_cast<double>(n);
        break;
      case Over::kSum:
        fold.value = folded(column, n, 0, sum);
        break;
    }
  }
}

/// Writes a new column.
void Expression::push(const Step& step, const RequestView& request, const Endpoints& endpoints,
                      std::span<const std::uint32_t> candidates, double* column) const {
  const std::size_t n = candidates.size();
  switch (step.op) {
    case Op::kConstant:
      std::fill_n(column, n, step.constant);
      break;
    case Op::kRequest:
      std::fill_n(column, n, request_fields()[step.field].read(request));
      break;
    case Op::kModel:
      std::fill_n(column, n, model_fields()[step.field].read(request));
      break;
    case Op::kSize:
      std::fill_n(column, n, static_cast<double>(n));
      break;
    case Op::kFold:
      std::fill_n(column, n, folds_[step.field].value);
      break;
    default:
      endpoint_fields()[step.field].read(endpoints, candidates, column);
  }
}

void Expression::change(Op op, double* column, std::size_t n) {
  if (op == Op::kNegate) return each(column, n, [](double x) { return -x; });
  if (op == Op::kNot) return each(column, n, [](double x) { return x != x ? kNone : x == 0 ? 1.0 : 0.0; });
  if (op == Op::kAbs) return each(column, n, [](double x) { return std::fabs(x); });
  each(column, n, [](double x) { return std::floor(x); });
}

void Expression::combine(Op op, double* columns, std::size_t n) {
  switch (op) {
    case Op::kAdd:
      return each_pair(columns, n, [](double x, double y) { return x + y; });
    case Op::kSubtract:
      return each_pair(columns, n, [](double x, double y) { return x - y; });
    case Op::kMultiply:
      return each_pair(columns, n, [](double x, double y) { return x * y; });
    case Op::kDivide:
      return each_pair(columns, n, [](double x, double y) { return y == 0 ? kNone : x / y; });
    case Op::kRemainder:
      return each_pair(columns, n, [](double x, double y) { return y == 0 ? kNone : std::fmod(x, y); });
    case Op::kLess:
      return each_pair(columns, n, [](double x, double y) { return compared(x < y, x, y); });
    case Op::kLessEqual:
      return each_pair(columns, n, [](double x, double y) { return compared(x <= y, x, y); });
    case Op::kEqual:
      return each_pair(columns, n, [](double x, double y) { return compared(x == y, x, y); });
    case Op::kUnequal:
      return each_pair(columns, n, [](double x, double y) { return compared(x != y, x, y); });
    case Op::kAnd:
      return each_pair(columns, n, logical_and);
    case Op::kOr:
      return each_pair(columns, n, logical_or);
    case Op::kMin:
      return each_pair(columns, n, least);
    default:
      return each_pair(columns, n, most);
  }
}

void Expression::evaluate(const RequestView& request, const Endpoints& endpoints,
                          std::span<const std::uint32_t> candidates, std::span<double> results) {
  const std::size_t n = candidates.size();
  if (n == 0) return;
  columns_.resize(depth_ * n);
  compute_folds(endpoints, candidates);
  std::size_t used = 0;  // columns
  const auto from_end = [&](std::size_t count) { return columns_.data() + (used - count) * n; };
  for (const Step& step : steps_) {
    if (step.op < Op::kNegate) {
      push(step, request, endpoints, candidates, from_end(0));
      ++used;
    } else if (step.op < Op::kAdd) {
      change(step.op, from_end(1), n);
    } else if (step.op == Op::kSelect) {
      select(from_end(3), n);
      used -= 2;
    } else {
      combine(step.op, from_end(2), n);
      --used;
    }
  }
  std::copy_n(columns_.data(), n, results.data());
}

}  // namespace poolcast::routing
