// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bf16.h"

namespace poolcast::kernels {

/// Gathers what `PreparedKernel::error` returns: max |got - wanted| over the root mean square of what was wanted.
class Comparison {
 public:
  void add(double got, double wanted);
  /// Infinite where nothing was compared or something was not finite. Where all wanted values are 0, so must be all
  /// got.
  double error() const;
  /// Root mean square of what was wanted.
  double scale() const;

 private:
  double worst_ = 0, squares_ = 0;
  std::int64_t count_ = 0;
  bool finite_ = true;
};

/// The same row by row, for outputs whose rows are of unlike size: the worst row, each over the root mean square of its
/// own wanted values or of all of them, whichever is greater.
class RowComparison {
 public:
  void add(double got, double wanted);
  void end_row();
  double error() const;

 private:
  struct Row {
    double worst = 0, squares = 0;
    std::int64_t count = 0;
  };
  std::vector<Row> rows_{1};
  Comparison all_;
};

void poison(float* out, std::int64_t count);         // NaN
void poison(Bf16* out, std::int64_t count);          // NaN
void poison(std::int32_t* out, std::int64_t count);  // INT32_MIN
void poison(std::int8_t* out, std::int64_t count);   // -128, which random inputs never hold

/// Whether no poison is left, nor any infinity.
bool all_written(const float* out, std::int64_t count);
bool all_written(const Bf16* out, std::int64_t count);
bool all_written(const std::int32_t* out, std::int64_t count);
bool all_written(const std::int8_t* out, std::int64_t count);

}  // namespace poolcast::kernels
