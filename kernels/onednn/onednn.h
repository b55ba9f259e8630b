// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "kernels/kernel.h"

namespace poolcast::kernels {

/// Kernels by oneDNN, the vendor library for CPUs; none where the build has no libdnnl-dev (absent.cpp).
std::span<const Kernel> onednn_kernels();

/// Empty, or why there are none.
std::string_view why_no_onednn();

}  // namespace poolcast::kernels
