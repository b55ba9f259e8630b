// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// No library header here: a source compiled for AVX-512 includes it.
namespace poolcast::kernels {

/// Multiples of 64 bytes at multiples of 64.
void avx512_stream_copy(void* to, const void* from, std::int64_t bytes);  // past the caches

/// Elements from `first` to `end` of every rank's vector summed and written to every rank's output.
void avx512_reduce_fp32(const void* const* in, void* const* out, std::int64_t ranks, std::int64_t first,
                        std::int64_t end);
void avx512_reduce_bf16(const void* const* in, void* const* out, std::int64_t ranks, std::int64_t first,
                        std::int64_t end);

}  // namespace poolcast::kernels
