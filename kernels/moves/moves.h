// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::kernels {

/// The CPU's implementations of kv_copy and all_reduce.
std::span<const Kernel> move_kernels();

}  // namespace poolcast::kernels
