// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/tensor_map.h"

/// The asynchronous machinery: copy engine, cp.async groups, wgmma groups and tcgen05. Operands are read as late as the
/// instruction's rules allow.
namespace poolcast::emulation {

/// Nothing may be under way between blocks.
void begin_block();
void end_block();

const cuda::TensorShape& shape_of(const cuda::TensorMap& map);

/// One box into shared memory with the 128-byte swizzle, zeros outside; its bytes arrive at the barrier.
void deliver(std::uint32_t destination, const cuda::TensorShape& shape, std::uint32_t barrier, std::vector<int> corner);

/// cp.async of the running thread.
void copy_later(std::uint32_t destination, const void* source, int bytes);
void commit_copies();
void finish_copies(int pending);

/// wgmma of the running thread's warpgroup: d (64 x columns) = a b + (add ? d : 0).
struct Multiplication {
  void* d = nullptr;
  bool integers = false;
  int columns = 0;
  std::uint64_t a = 0;                    // descriptor, or
  const std::uint32_t* a_held = nullptr;  // registers, read when the multiplication is done
  std::uint64_t b = 0;
  bool b_rows_are_k = false;  // b has N contiguous
  int add = 0;
};
void multiply_later(const Multiplication& one);
void commit_multiplications();
void finish_multiplications(int pending);

/// tcgen05: one product into tensor memory, and an arrival once all before it are done.
void tensor_multiply_later(std::uint32_t accumulator, std::uint64_t a, std::uint64_t b, std::uint32_t instruction,
                           std::uint32_t add);
void tensor_commit_later(std::uint32_t barrier);

}  // namespace poolcast::emulation
