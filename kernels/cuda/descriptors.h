// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The 64-bit and 32-bit words that tell NVIDIA's tensor cores where their operands lie in shared memory. Plain C++, so
/// that the fields are tested on any machine; the kernels call the same functions on the device.
///
/// A tile row is always 128 bytes wide (64 bf16 or 128 int8 along the contiguous axis) and is written by the copy
/// engine with the 128-byte swizzle: eight rows make an atom of 1,024 bytes, and within it the 16-byte chunk c of row r
/// lies at chunk c ^ (r mod 8). Tiles begin on 1,024-byte borders, so the "base offset" fields stay zero. Sources: PTX
/// ISA, "Asynchronous warpgroup level matrix: shared memory layout, matrix descriptor", "tcgen05: shared memory
/// descriptor" and "tcgen05: instruction descriptor"; the field widths are theirs.
namespace poolcast::cuda {

constexpr int kSwizzleRowBytes = 128;
constexpr int kSwizzleAtomBytes = 1024;

/// Byte offset of byte `column` of `row` in a tile of 128-byte rows with the 128-byte swizzle.
constexpr std::uint32_t swizzle128(std::uint32_t row, std::uint32_t column) {
  return row * kSwizzleRowBytes + ((((column >> 4) ^ row) & 7u) << 4) + (column & 15u);
}

/// Addresses and offsets are given to the hardware in units of 16 bytes, 14 bits wide (shared memory below 256 KiB).
constexpr std::uint64_t encode_offset(std::uint32_t bytes) { return (bytes & 0x3FFFFu) >> 4; }

/// wgmma operand whose contiguous axis is K: rows of 64 bf16, eight-row atoms one after another. The leading offset is
/// not read with a swizzle (set to 1 as the ISA asks), the stride is one atom. A step of 32 bytes along K adds 2.
constexpr std::uint64_t wgmma_descriptor_k_major(std::uint32_t shared_address) {
  return encode_offset(shared_address) | (std::uint64_t{1} << 16) | (encode_offset(kSwizzleAtomBytes) << 32) |
         (std::uint64_t{1} << 62);
}

/// wgmma operand whose contiguous axis is M or N (V in attention: tokens are K, the head dimension is N). One column
/// chunk is 64 elements wide and `chunk_bytes` long; chunks follow one another. Leading offset: chunk to chunk. Stride:
/// eight K rows to the next eight. A step of 16 along K adds 2,048 bytes.
constexpr std::uint64_t wgmma_descriptor_n_major(std::uint32_t shared_address, std::uint32_t chunk_bytes) {
  return encode_offset(shared_address) | (encode_offset(chunk_bytes) << 16) | (encode_offset(kSwizzleAtomBytes) << 32) |
         (std::uint64_t{1} << 62);
}

/// tcgen05 operand, K contiguous, 128-byte swizzle: as for wgmma, with version 1 in bits 46-47 and layout type 2
/// (128-byte swizzle) in bits 61-63.
constexpr std::uint64_t tcgen05_descriptor_k_major(std::uint32_t shared_address) {
  return encode_offset(shared_address) | (std::uint64_t{1} << 16) | (encode_offset(kSwizzleAtomBytes) << 32) |
         (std::uint64_t{1} << 46) | (std::uint64_t{2} << 61);
}

/// tcgen05.mma.kind::f16 with bf16 operands (K contiguous) and an fp32 accumulator of m x n.
/// Bits: 4-5 accumulator format (1 = f32), 7-9 and 10-12 operand formats (1 = bf16), 15 and 16 transposes (0 = K
/// contiguous), 17-22 n / 8, 24-28 m / 16. Sparsity, negation and shift stay zero.
constexpr std::uint32_t tcgen05_instruction_bf16(std::uint32_t m, std::uint32_t n) {
  return (1u << 4) | (1u << 7) | (1u << 10) | ((n >> 3) << 17) | ((m >> 4) << 24);
}

/// Tensor-memory address: lane (row of the accumulator) in the upper half, 32-bit column in the lower half.
constexpr std::uint32_t tmem_address(std::uint32_t base, std::uint32_t lane, std::uint32_t column) {
  return base + (lane << 16) + column;
}

}  // namespace poolcast::cuda
