// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::cuda {

/// Prefill and decode attention: cuda_portable, cuda_hopper.
std::span<const kernels::Kernel> attention_kernels();

}  // namespace poolcast::cuda
