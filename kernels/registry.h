// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/device_facts.h"
#include "kernels/kernel.h"

namespace poolcast::kernels {

/// Every kernel of this build, by operation, then from the simplest to the most native implementation: a
/// vendor's library is less native than a kernel for the CPU's instructions. Parts that were
/// not compiled (no compiler, no library) are absent here and named by absent_parts.
std::span<const Kernel> all_kernels();

/// The row of the table, or nullptr.
const Kernel* find_kernel(Operation operation, std::string_view implementation);

/// Those of the problem's operation that can run it here.
std::vector<const Kernel*> kernels_for(const KernelProblem& problem);

/// Of CUDA and HIP devices, where a kernel can run; nothing of others.
DeviceFacts device_facts(DeviceKind kind, bool peaks);

/// With which flags the CPU's kernels were compiled: those of all, then those that sources for AVX-512 and AMX add.
std::string_view compiler_flags();

/// A part of the room that this build does not have, and why ("onednn", "built without libdnnl-dev").
struct AbsentPart {
  std::string_view implementation;
  std::string_view reason;
};
std::span<const AbsentPart> absent_parts();

}  // namespace poolcast::kernels
