// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "kernels/cuda/tensor_map.h"

/// The loops behind peaks.h, each in the source compiled for its architecture. Every launch returns the operations that
/// it will execute. `sink` is written only if a result is an improbable value: it keeps the loops from being removed.
namespace poolcast::cuda {

double launch_fma_fp32(int multiprocessors, int rounds, float* sink, Stream stream);
double launch_mma_bf16(int multiprocessors, int rounds, float* sink, Stream stream);
double launch_mma_int8(int multiprocessors, int rounds, float* sink, Stream stream);
double launch_wgmma_bf16(int multiprocessors, int rounds, float* sink, Stream stream);    // sm_90a
double launch_wgmma_int8(int multiprocessors, int rounds, float* sink, Stream stream);    // sm_90a
double launch_tcgen05_bf16(int multiprocessors, int rounds, float* sink, Stream stream);  // sm_100a

void launch_read(const void* from, std::size_t bytes, int multiprocessors, float* sink, Stream stream);
void launch_copy(const void* from, void* to, std::size_t bytes, int multiprocessors, Stream stream);
void launch_fill_random(void* to, std::size_t bytes, Stream stream);

}  // namespace poolcast::cuda
