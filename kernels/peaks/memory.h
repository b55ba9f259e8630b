// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast::kernels {

/// Reads `bytes`, a multiple of 256, at a multiple of 64, and returns something that depends on all of it. Baseline
/// x86-64.
std::uint64_t read_all(const void* from, std::int64_t bytes);
/// The same by 512 bits at a time (AVX512F).
std::uint64_t read_all_avx512(const void* from, std::int64_t bytes);

constexpr std::int64_t kBlocksAtOnce = 8;

/// The same for blocks of 4 KiB that lie anywhere, kBlocksAtOnce in turn and the next ones asked for ahead: what
/// attention over a paged cache can get. `count` is a multiple of kBlocksAtOnce, and `order` has as many more numbers.
std::uint64_t read_blocks(const void* from, const std::int32_t* order, std::int64_t count);

/// Copies past the caches.
void copy_all(void* to, const void* from, std::int64_t bytes);

}  // namespace poolcast::kernels
