// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The two matrix instructions that the kernels use, as AMD's "CDNA 2 ISA" guide and its matrix instruction calculator
/// lay them out over a wave of 64 lanes: written down here from the matrix's side (who holds element (i, j)), while
/// kernels/hip/mfma.h says it from the lane's, so that a slip in either gives a wrong product.
namespace poolcast::emulation {

using Bf16x4 = __attribute__((__vector_size__(4 * sizeof(short)))) short;
using Float4 = __attribute__((__vector_size__(4 * sizeof(float)))) float;
using Float16 = __attribute__((__vector_size__(16 * sizeof(float)))) float;

/// This lane's sums of d = a b + c. All lanes of the wave must take part.
Float4 multiply_16x16x16(Bf16x4 a, Bf16x4 b, Float4 c);
Float16 multiply_32x32x8(Bf16x4 a, Bf16x4 b, Float16 c);

}  // namespace poolcast::emulation

// The compiler's names. The three numbers choose broadcasts and are zero here.
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, cbsz, abid, blgp) \
  poolcast::emulation::multiply_16x16x16(a, b, c)
#define __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, c, cbsz, abid, blgp) \
  poolcast::emulation::multiply_32x32x8(a, b, c)
