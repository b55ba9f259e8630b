// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cuda/fragments.h"
#include "kernels/cuda/tensor_map.h"
#include "tests/cuda/emulation/cuda_bf16.h"
#include "tests/cuda/emulation/cuda_runtime.h"
#include "tests/cuda/emulation/tensors.h"

// In place of the header of the same name: what each instruction does.
namespace poolcast::cuda {

inline std::uint32_t shared_address(const void* pointer) { return emulation::address_of(pointer); }
inline void mbarrier_init(std::uint32_t barrier, std::uint32_t arrivals) {
  emulation::barrier_init(barrier, static_cast<int>(arrivals));
}
inline void fence_mbarrier_init() {}
inline void mbarrier_arrive(std::uint32_t barrier) { emulation::barrier_arrive(barrier, 0); }
inline void mbarrier_arrive_expect(std::uint32_t barrier, std::uint32_t bytes) {
  emulation::barrier_arrive(barrier, static_cast<int>(bytes));
}
inline void mbarrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  emulation::wait_until([=] { return emulation::barrier_passed(barrier, parity); });
}

inline void tensor_load(std::uint32_t destination, const TensorMap* map, std::uint32_t barrier, int x, int y) {
  emulation::deliver(destination, emulation::shape_of(*map), barrier, {x, y});
}
inline void tensor_load_4d(std::uint32_t destination, const TensorMap* map, std::uint32_t barrier, int x, int y, int z,
                           int w) {
  emulation::deliver(destination, emulation::shape_of(*map), barrier, {x, y, z, w});
}
inline void prefetch_tensor_map(const TensorMap*) {}

template <int kRegisters>
void give_registers() {}
template <int kRegisters>
void take_registers() {}
inline void wgmma_fence() {}
inline void wgmma_commit() { emulation::commit_multiplications(); }
template <int kPending>
void wgmma_wait() {
  emulation::finish_multiplications(kPending);
}
template <class T, int kCount>
void hold(T (&)[kCount]) {}

inline void copy_async_16(std::uint32_t destination, const void* source, int bytes) {
  emulation::copy_later(destination, source, bytes);
}
inline void copy_async_commit() { emulation::commit_copies(); }
template <int kPending>
void copy_async_wait() {
  emulation::finish_copies(kPending);
}

inline void load_matrices_any(std::uint32_t (&out)[4], std::uint32_t row_address, bool transposed) {
  const std::uint64_t* rows = emulation::exchange(row_address);
  const int lane = emulation::linear_thread() % 32;
  for (int matrix = 0; matrix < 4; ++matrix) {
    std::uint16_t pair[2];
    for (int i = 0; i < 2; ++i) {
      const int row = transposed ? 2 * (lane % 4) + i : lane / 4, column = transposed ? lane / 4 : 2 * (lane % 4) + i;
      const auto address = static_cast<std::uint32_t>(rows[matrix * 8 + row]);
      if (address % 16 != 0) emulation::fault("ldmatrix: a row that is not aligned");
      __builtin_memcpy(&pair[i], emulation::at_address(address, 16) + 2 * column, 2);
    }
    __builtin_memcpy(&out[matrix], pair, 4);
  }
}
inline void load_matrices(std::uint32_t (&out)[4], std::uint32_t row_address) {
  load_matrices_any(out, row_address, false);
}
inline void load_matrices_transposed(std::uint32_t (&out)[4], std::uint32_t row_address) {
  load_matrices_any(out, row_address, true);
}

inline void mma_16x8x16(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  const int lane = emulation::linear_thread() % 32;
  const std::uint64_t* given[6];
  std::uint32_t own[6] = {a[0], a[1], a[2], a[3], b0, b1};
  std::uint64_t kept[6][32];
  for (int i = 0; i < 6; ++i) {
    given[i] = emulation::exchange(own[i]);
    std::copy(given[i], given[i] + 32, kept[i]);
  }
  const auto half = [](std::uint64_t pair, int i) {
    return kernels::to_float(kernels::Bf16{static_cast<std::uint16_t>(pair >> (16 * i))});
  };
  float left[16][16], right[16][8];
  for (int of = 0; of < 32; ++of) {
    for (int second = 0; second < 2; ++second) {
      for (int i = 0; i < 4; ++i) {
        const Element at = left_element(of, i);
        left[at.row][at.column + second] = half(kept[i][of], second);
      }
      for (int i = 0; i < 2; ++i) right[2 * (of % 4) + second + 8 * i][of / 4] = half(kept[4 + i][of], second);
    }
  }
  for (int i = 0; i < 4; ++i) {
    const Element at = accumulator_element(lane, i);
    for (int k = 0; k < 16; ++k) d[i] += left[at.row][k] * right[k][at.column];
  }
}

inline float exp2_fast(float x) { return std::exp2(x); }
inline std::uint32_t pack_bf16(float low, float high) {
  return kernels::to_bf16(low).bits | std::uint32_t{kernels::to_bf16(high).bits} << 16;
}

}  // namespace poolcast::cuda
