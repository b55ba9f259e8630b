// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/attention.h"
#include "kernels/cuda/product.h"

/// Kernels of sm_90a (H100, H200, GH200). Each is planned once (tensor maps, grid, workspace) and launched often.
/// All pointers are device addresses. Every launch works in the order of its stream and returns at once.
namespace poolcast::cuda {

/// sm_90a: bf16 and int8.
void launch_hopper(const PlannedProduct& plan, Stream stream);

/// bf16, head dimensions 64 and 128, split over the tokens.
struct HopperDecode {
  DecodeAttention attention;
  int splits = 1;
  float* workspace = nullptr;
};
/// What the splits need: per request, head and split head_dim values, a maximum and a sum.
long workspace_floats(const DecodeAttention& attention, int multiprocessors);
HopperDecode plan_hopper_decode(const DecodeAttention& attention, int multiprocessors, float* workspace);
void launch(const HopperDecode& plan, Stream stream);

/// bf16 prefill. Empty, or why the kernel cannot do it (head dimension 128; blocks of 8, 16, 32, 64 or 128 tokens).
const char* why_no_hopper_prefill(int head_dim, int block_tokens);
struct HopperPrefill {
  PrefillAttention attention;
  TensorMap q_map, k_map, v_map;
};
HopperPrefill plan_hopper_prefill(const PrefillAttention& attention);
void launch(const HopperPrefill& plan, Stream stream);

}  // namespace poolcast::cuda
