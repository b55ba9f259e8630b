// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/row_case.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/compare.h"
#include "kernels/element.h"
#include "kernels/random.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kElementsOfACheck = std::int64_t{1} << 24;

/// All rows, or as many random ones as the budget allows.
template <class Check>
void over_some(std::int64_t rows, std::int64_t columns, Check check) {
  const std::int64_t budget = std::max<std::int64_t>(1, kElementsOfACheck / columns);
  Random random(static_cast<std::uint64_t>(rows));
  for (std::int64_t i = 0; i < std::min(rows, budget); ++i) check(rows <= budget ? i : random.below(rows));
}

/// log(sum(exp(x))) of a row and its greatest element.
template <class T>
std::pair<double, double> log_sum(const T* x, std::int64_t columns) {
  double most = -INFINITY, sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) most = std::max(most, to_double(x[i]));
  for (std::int64_t i = 0; i < columns; ++i) sum += std::exp(to_double(x[i]) - most);
  return {most + std::log(sum), most};
}

std::int64_t inputs_of_a_row(const RowCase& data) {
  return (data.operation == Operation::kSiluGate ? 2 : 1) * data.task.columns;
}

template <class T>
void values_in(const RowCase& data, std::int64_t row, double* out) {
  const std::int64_t columns = data.task.columns;
  const T* x = static_cast<const T*>(data.task.in) + row * inputs_of_a_row(data);
  if (data.operation == Operation::kSiluGate) {
    for (std::int64_t i = 0; i < columns; ++i)
      out[i] = to_double(x[i]) / (1 + std::exp(-to_double(x[i]))) * to_double(x[columns + i]);
    return;
  }
  if (data.operation == Operation::kResidualAdd) {
    const T* y = static_cast<const T*>(data.task.addend) + row * columns;
    for (std::int64_t i = 0; i < columns; ++i) out[i] = to_double(x[i]) + to_double(y[i]);
    return;
  }
  if (data.operation == Operation::kRmsNorm) {
    double squares = 0;
    for (std::int64_t i = 0; i < columns; ++i) squares += to_double(x[i]) * to_double(x[i]);
    const double factor = 1 / std::sqrt(squares / static_cast<double>(columns) + 1e-6);
    for (std::int64_t i = 0; i < columns; ++i)
      out[i] = to_double(x[i]) * factor * to_double(static_cast<const T*>(data.task.weight)[i]);
    return;
  }
  const double log = log_sum(x, columns).first;
  if (data.operation == Operation::kCrossEntropy) {
    out[0] = log - to_double(x[data.task.labels[row]]);
    return;
  }
  for (std::int64_t i = 0; i < columns; ++i) out[i] = std::exp(to_double(x[i]) - log);
}

template <class Output>
double error_in(const RowCase& data, std::int64_t columns) {
  const auto* out = static_cast<const Output*>(data.task.out);
  Comparison comparison;
  if (!all_written(out, data.task.rows * columns)) return comparison.error();
  std::vector<double> wanted(static_cast<std::size_t>(data.task.columns));
  over_some(data.task.rows, data.task.columns, [&](std::int64_t row) {
    row_values(data, row, wanted.data());
    for (std::int64_t i = 0; i < columns; ++i)
      comparison.add(to_double(out[row * columns + i]), wanted[static_cast<std::size_t>(i)]);
  });
  return comparison.error();
}

}  // namespace

RowCase::RowCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory)
    : operation(problem.operation), dtype(problem.dtype), task{} {
  task.rows = problem.dim("rows");
  task.columns = problem.dim("columns");
  task.bf16 = dtype == DType::kBf16;
  Random random(seed);
  with_float_element(dtype, [&](auto element) {
    using T = decltype(element);
    const std::int64_t inputs = task.rows * inputs_of_a_row(*this);
    T *in = memory.take<T>(inputs), *weight = memory.take<T>(task.columns);
    random.fill(in, inputs);
    random.fill(weight, task.columns);
    task.in = in;
    task.weight = weight;
    if (operation == Operation::kResidualAdd) {
      T* addend = memory.take<T>(inputs);
      random.fill(addend, inputs);
      task.addend = addend;
    }
    if (operation != Operation::kCrossEntropy) task.out = memory.take<T>(task.rows * task.columns);
  });
  auto* labels = memory.take<std::int32_t>(task.rows);
  for (std::int64_t row = 0; row < task.rows; ++row)
    labels[row] = static_cast<std::int32_t>(random.below(task.columns));
  task.labels = labels;
  if (operation == Operation::kCrossEntropy) task.out = memory.take<float>(task.rows);
}

void RowCase::poison() {
  if (operation == Operation::kCrossEntropy) return kernels::poison(static_cast<float*>(task.out), task.rows);
  with_float_element(dtype, [&](auto element) {
    kernels::poison(static_cast<decltype(element)*>(task.out), task.rows * task.columns);
  });
}

double RowCase::error() const {
  if (operation == Operation::kCrossEntropy) return error_in<float>(*this, 1);
  return with_float_element(dtype, [&](auto element) { return error_in<decltype(element)>(*this, task.columns); });
}

void row_values(const RowCase& data, std::int64_t row, double* out) {
  with_float_element(data.dtype, [&](auto element) { values_in<decltype(element)>(data, row, out); });
}

RotaryCase::RotaryCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory)
    : dtype(problem.dtype), task{} {
  task.tokens = problem.dim("tokens");
  task.heads = problem.dim("heads");
  task.head_dim = problem.dim("head_dim");
  task.bf16 = dtype == DType::kBf16;
  task.in_stride = task.heads * task.head_dim;
  Random random(seed);
  const std::int64_t count = task.tokens * task.heads * task.head_dim, half = task.head_dim / 2;
  with_float_element(dtype, [&](auto element) {
    using T = decltype(element);
    T* in = memory.take<T>(count);
    random.fill(in, count);
    task.in = in;
    task.out = memory.take<T>(count);
  });
  auto* turns = memory.take<float>(task.tokens * half * 2);
  for (std::int64_t token = 0; token < task.tokens; ++token) {
    const auto position = static_cast<double>(random.below(std::int64_t{1} << 15));
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = position * std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(2 * half));
      turns[2 * (token * half + i)] = static_cast<float>(std::cos(angle));
      turns[2 * (token * half + i) + 1] = static_cast<float>(std::sin(angle));
    }
  }
  task.turns = turns;
}

void RotaryCase::poison() {
  with_float_element(dtype, [&](auto element) {
    kernels::poison(static_cast<decltype(element)*>(task.out), task.tokens * task.heads * task.head_dim);
  });
}

double RotaryCase::error() const {
  return with_float_element(dtype, [&](auto element) {
    using T = decltype(element);
    const std::int64_t width = task.heads * task.head_dim;
    const T* out = static_cast<const T*>(task.out);
    Comparison comparison;
    if (!all_written(out, task.tokens * width)) return comparison.error();
    std::vector<double> wanted(static_cast<std::size_t>(width));
    over_some(task.tokens, width, [&](std::int64_t token) {
      rotary_values(*this, token, wanted.data());
      for (std::int64_t i = 0; i < width; ++i)
        comparison.add(to_double(out[token * width + i]), wanted[static_cast<std::size_t>(i)]);
    });
    return comparison.error();
  });
}

void rotary_values(const RotaryCase& data, std::int64_t token, double* out) {
  with_float_element(data.dtype, [&](auto element) {
    using T = decltype(element);
    const std::int64_t half = data.task.head_dim / 2;
    const float* turns = data.task.turns + token * half * 2;
    for (std::int64_t head = 0; head < data.task.heads; ++head) {
      const std::int64_t at = head * data.task.head_dim;
      const T* x = static_cast<const T*>(data.task.in) + token * data.task.heads * data.task.head_dim + at;
      for (std::int64_t i = 0; i < half; ++i) {
        const double a = to_double(x[i]), b = to_double(x[i + half]);
        const double cosine = to_double(turns[2 * i]), sine = to_double(turns[2 * i + 1]);
        out[at + i] = a * cosine - b * sine;
        out[at + i + half] = b * cosine + a * sine;
      }
    }
  });
}

}  // namespace poolcast::kernels
