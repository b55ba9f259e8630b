// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/kernel.h"

/// Runs a kernel once on poisoned outputs and prints a line about it; `on` names the device that is pretended. False if
/// its error is greater than allowed.
bool sound(const poolcast::kernels::Kernel& kernel, const poolcast::kernels::KernelProblem& problem,
           const std::string& on);
