// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::hip {

/// What works on rows, and moves: rows of `hip_portable`.
std::span<const kernels::Kernel> portable_kernels();

}  // namespace poolcast::hip
