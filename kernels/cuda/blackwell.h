// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/product.h"

namespace poolcast::cuda {

/// sm_100a (B200, GB200): bf16. Works in the order of its stream and returns at once. Compiled, not run yet.
void launch_blackwell(const PlannedProduct& plan, Stream stream);

}  // namespace poolcast::cuda
