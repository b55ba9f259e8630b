// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/problem.h"
#include "models/units.h"

namespace poolcast::kernels {

/// What a GPU says of itself, and what was measured of it.
struct DeviceFacts {
  std::string name;  ///< "NVIDIA H200"
  std::string driver, runtime, compiler;
  std::vector<std::pair<DType, FlopsPerSecond>> compute;  ///< the fastest instruction of each format
  BytesPerSecond reading{0};                              ///< 0 = not measured
};

}  // namespace poolcast::kernels
