// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/element.h"
#include "kernels/rows/rows.h"

namespace poolcast::kernels {

/// Calls f(row of T, row index) for each row.
template <class F>
void each_row(const RowTask& task, Team& team, F f) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) {
    with_float_element(task.bf16 ? DType::kBf16 : DType::kFp32, [&](auto element) {
      for (std::int64_t row = first; row < end; ++row)
        f(static_cast<const decltype(element)*>(task.in) + row * task.columns, row);
    });
  });
}

}  // namespace poolcast::kernels
