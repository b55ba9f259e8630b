// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/cuda/emulation/cuda_runtime.h"
#include "tests/cuda/emulation/tensors.h"

// In place of the header of the same name.
namespace poolcast::cuda {

inline void tmem_allocate(std::uint32_t shared_slot, std::uint32_t columns) {
  if (columns > 512 || (columns & (columns - 1)) != 0) emulation::fault("tcgen05.alloc: columns");
  *reinterpret_cast<std::uint32_t*>(emulation::at_address(shared_slot, 4)) = 0;
}
inline void tmem_no_more_allocations() {}
inline void tmem_free(std::uint32_t, std::uint32_t) {}
inline void tcgen05_mma_bf16(std::uint32_t accumulator, std::uint64_t a, std::uint64_t b, std::uint32_t instruction,
                             std::uint32_t add) {
  emulation::tensor_multiply_later(accumulator, a, b, instruction, add);
}
inline void tcgen05_commit(std::uint32_t barrier) { emulation::tensor_commit_later(barrier); }
inline void tcgen05_before_meeting() {}
inline void tcgen05_after_meeting() {}
inline void tmem_load_32(std::uint32_t (&out)[32], std::uint32_t address) {
  const int lane = emulation::linear_thread() % 32, warp = emulation::linear_thread() / 32 % 4;
  if (static_cast<int>(address >> 16) != 32 * warp) emulation::fault("tcgen05.ld: lanes of another warp");
  __builtin_memcpy(out, emulation::tensor_memory() + (32 * warp + lane) * 512 + (address & 0xFFFF), sizeof out);
}
inline void tmem_wait_load(std::uint32_t (&)[32]) {}

}  // namespace poolcast::cuda
