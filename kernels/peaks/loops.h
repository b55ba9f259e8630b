// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast::kernels {

// Loops that do nothing but one instruction on registers, enough of them independent to hide its latency. Each runs
// `rounds` rounds and returns the operations (multiplications and additions) that it did. Each in a source compiled for
// its instructions.
double peak_sse_fp32(std::int64_t rounds);     // mulps and addps, baseline x86-64
double peak_avx512_fp32(std::int64_t rounds);  // vfmadd231ps
double peak_avx512_bf16(std::int64_t rounds);  // vdpbf16ps
double peak_avx512_int8(std::int64_t rounds);  // vpdpbusd
double peak_amx_bf16(std::int64_t rounds);     // tdpbf16ps on four tiles of sums
double peak_amx_int8(std::int64_t rounds);     // tdpbssd

}  // namespace poolcast::kernels
