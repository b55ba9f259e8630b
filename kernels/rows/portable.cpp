// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/element.h"
#include "kernels/power.h"
#include "kernels/rows/each_row.h"
#include "kernels/rows/rows.h"

/// Sixteen sums side by side and an exponential without branches, so that any compiler vectorises the loops.
namespace poolcast::kernels {
namespace {

constexpr int kLanes = 16;

/// The sum, lane by lane, of f(i) for i < columns.
template <class F>
float lane_sum(std::int64_t columns, F f) {
  float lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += f(i + lane);
  float sum = 0;
  for (; i < columns; ++i) sum += f(i);
  for (float lane : lanes) sum += lane;
  return sum;
}

template <class T>
float greatest(const T* x, std::int64_t columns) {
  float lanes[kLanes];
  for (float& lane : lanes) lane = factor(x[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const float value = factor(x[i + lane]);
      lanes[lane] = lanes[lane] < value ? value : lanes[lane];
    }
  for (; i < columns; ++i) lanes[0] = std::max(lanes[0], factor(x[i]));
  return *std::max_element(lanes, lanes + kLanes);
}

template <class T>
float sum_of_powers(const T* x, std::int64_t columns, float most) {
  return lane_sum(columns, [&](std::int64_t i) { return power(factor(x[i]) - most); });
}

}  // namespace

void portable_softmax(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T* x, std::int64_t row) {
    const float most = greatest(x, task.columns), scale = 1 / sum_of_powers(x, task.columns, most);
    T* out = static_cast<T*>(task.out) + row * task.columns;
    for (std::int64_t i = 0; i < task.columns; ++i) put(out[i], power(factor(x[i]) - most) * scale);
  });
}

void portable_cross_entropy(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T* x, std::int64_t row) {
    const float most = greatest(x, task.columns), sum = sum_of_powers(x, task.columns, most);
    static_cast<float*>(task.out)[row] = std::log(sum) + most - factor(x[task.labels[row]]);
  });
}

void portable_rms_norm(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T* x, std::int64_t row) {
    const float squares = lane_sum(task.columns, [&](std::int64_t i) { return factor(x[i]) * factor(x[i]); });
    const float scale = 1 / std::sqrt(squares / static_cast<float>(task.columns) + kRmsEpsilon);
    const T* weight = static_cast<const T*>(task.weight);
    T* out = static_cast<T*>(task.out) + row * task.columns;
    for (std::int64_t i = 0; i < task.columns; ++i) put(out[i], factor(x[i]) * scale * factor(weight[i]));
  });
}

void portable_silu_gate(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T*, std::int64_t row) {
    const T *gates = static_cast<const T*>(task.in) + 2 * row * task.columns, *ups = gates + task.columns;
    T* out = static_cast<T*>(task.out) + row * task.columns;
    for (std::int64_t i = 0; i < task.columns; ++i) {
      const float x = factor(gates[i]), p = power(x < 0 ? x : -x);
      put(out[i], x * (x < 0 ? p : 1.0f) / (1 + p) * factor(ups[i]));
    }
  });
}

void portable_residual_add(const RowTask& task, Team& team) {
  each_row(task, team, [&]<class T>(const T* x, std::int64_t row) {
    const T* y = static_cast<const T*>(task.addend) + row * task.columns;
    T* out = static_cast<T*>(task.out) + row * task.columns;
    for (std::int64_t i = 0; i < task.columns; ++i) put(out[i], factor(x[i]) + factor(y[i]));
  });
}

void portable_rotary(const RotaryTask& task, Team& team) {
  const std::int64_t half = task.head_dim / 2;
  team.parallel(task.tokens, [&](std::int64_t token) {
    with_float_element(task.bf16 ? DType::kBf16 : DType::kFp32, [&](auto element) {
      using T = decltype(element);
      const float* turns = task.turns + token * half * 2;
      for (std::int64_t head = 0; head < task.heads; ++head) {
        const std::int64_t at = (token * task.heads + head) * task.head_dim;
        const T* x = static_cast<const T*>(task.in) + token * task.in_stride + head * task.head_dim;
        T* out = static_cast<T*>(task.out) + at;
        for (std::int64_t i = 0; i < half; ++i) {
          const float a = factor(x[i]), b = factor(x[i + half]);
          put(out[i], a * turns[2 * i] - b * turns[2 * i + 1]);
          put(out[i + half], b * turns[2 * i] + a * turns[2 * i + 1]);
        }
      }
    });
  });
}

}  // namespace poolcast::kernels
