// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// PTX instructions of sm_100a around the fifth-generation tensor core, whose accumulators lie in tensor memory (128
/// lanes of 512 32-bit columns). PTX ISA, "TensorCore 5th generation family instructions". mbarrier and the copy engine
/// are those of hopper_ptx.cuh.
namespace poolcast::cuda {

/// Whole warp. Takes `columns` (a power of two, 32 to 512) and writes the address to shared memory; the same warp must
/// give them back.
__device__ __forceinline__ void tmem_allocate(std::uint32_t shared_slot, std::uint32_t columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_slot), "r"(columns)
               : "memory");
}
__device__ __forceinline__ void tmem_no_more_allocations() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void tmem_free(std::uint32_t address, std::uint32_t columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns) : "memory");
}

/// One thread: accumulator (tensor memory) = a b, plus the old accumulator where `add` is not 0. a and b are
/// descriptors of shared memory, `instruction` is tcgen05_instruction_bf16.
__device__ __forceinline__ void tcgen05_mma_bf16(std::uint32_t accumulator, std::uint64_t a, std::uint64_t b,
                                                 std::uint32_t instruction, std::uint32_t add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(accumulator),
      "l"(a), "l"(b), "r"(instruction), "r"(add)
      : "memory");
}

/// One thread: one arrival on the barrier once every mma that this thread has issued is done (with its reads of shared
/// memory too).
__device__ __forceinline__ void tcgen05_commit(std::uint32_t barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
}

/// Order between tcgen05 instructions of different threads that meet at a barrier.
__device__ __forceinline__ void tcgen05_before_meeting() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ __forceinline__ void tcgen05_after_meeting() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// Whole warp w: lane l gets 32 columns of tensor-memory lane 32 (w mod 4) + l.
__device__ __forceinline__ void tmem_load_32(std::uint32_t (&out)[32], std::uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
      : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3]), "=r"(out[4]), "=r"(out[5]), "=r"(out[6]), "=r"(out[7]),
        "=r"(out[8]), "=r"(out[9]), "=r"(out[10]), "=r"(out[11]), "=r"(out[12]), "=r"(out[13]), "=r"(out[14]),
        "=r"(out[15]), "=r"(out[16]), "=r"(out[17]), "=r"(out[18]), "=r"(out[19]), "=r"(out[20]), "=r"(out[21]),
        "=r"(out[22]), "=r"(out[23]), "=r"(out[24]), "=r"(out[25]), "=r"(out[26]), "=r"(out[27]), "=r"(out[28]),
        "=r"(out[29]), "=r"(out[30]), "=r"(out[31])
      : "r"(address)
      : "memory");
}
/// After the loads, before their registers are read. `out` is named so that the reads cannot move above.
__device__ __forceinline__ void tmem_wait_load(std::uint32_t (&out)[32]) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    asm volatile("" : "+r"(out[i])::"memory");
  }
}

}  // namespace poolcast::cuda
