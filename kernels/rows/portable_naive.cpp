// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/element.h"
#include "kernels/rows/each_row.h"
#include "kernels/rows/rows.h"

/// One element after the other with the library's exponential: sums in one chain, which no compiler may vectorise.
namespace poolcast::kernels {
namespace {

template <class T>
float greatest(const T* x, std::int64_t columns) {
  float most = factor(x[0]);
  for (std::int64_t i = 1; i < columns; ++i) most = std::max(most, factor(x[i]));
  return most;
}

template <class T>
float sum_of_powers(const T* x, std::int64_t columns, float most) {
  float sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) sum += std::exp(factor(x[i]) - most);
  return sum;
}

}  // namespace

void portable_naive_softmax(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T* x, std::int64_t row) {
    const float most = greatest(x, task.columns), sum = sum_of_powers(x, task.columns, most);
    T* out = static_cast<T*>(task.out) + row * task.columns;
    for (std::int64_t i = 0; i < task.columns; ++i) put(out[i], std::exp(factor(x[i]) - most) / sum);
  });
}

void portable_naive_cross_entropy(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T* x, std::int64_t row) {
    const float most = greatest(x, task.columns), sum = sum_of_powers(x, task.columns, most);
    static_cast<float*>(task.out)[row] = std::log(sum) + most - factor(x[task.labels[row]]);
  });
}

void portable_naive_rms_norm(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T* x, std::int64_t row) {
    float squares = 0;
    for (std::int64_t i = 0; i < task.columns; ++i) squares += factor(x[i]) * factor(x[i]);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(task.columns) + kRmsEpsilon);
    T* out = static_cast<T*>(task.out) + row * task.columns;
    for (std::int64_t i = 0; i < task.columns; ++i)
      put(out[i], factor(x[i]) * scale * factor(static_cast<const T*>(task.weight)[i]));
  });
}

void portable_naive_silu_gate(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T*, std::int64_t row) {
    const T *gates = static_cast<const T*>(task.in) + 2 * row * task.columns, *ups = gates + task.columns;
    T* out = static_cast<T*>(task.out) + row * task.columns;
    for (std::int64_t i = 0; i < task.columns; ++i)
      put(out[i], factor(gates[i]) / (1 + std::exp(-factor(gates[i]))) * factor(ups[i]));
  });
}

}  // namespace poolcast::kernels
