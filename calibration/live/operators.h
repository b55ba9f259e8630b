// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/attention/attention.h"
#include "kernels/gemm/weight.h"
#include "kernels/moves/kv_store.h"
#include "kernels/rows/rows.h"
#include "kernels/threads.h"

namespace poolcast::live {

/// The kernels of one implementation that a forward pass is made of.
struct Operators {
  std::string_view name;
  kernels::MakeWeight weight;
  kernels::Attend prefill_attention, decode_attention;
  kernels::RowFunction rms_norm, silu_gate, residual_add;
  kernels::RotaryFunction rotary;
  kernels::KvStoreFunction kv_store;
};

/// `implementation` is portable, avx512, amx, or auto for the most native one that runs here. Throws ModelError with
/// the reason when this machine does not have it.
Operators operators(const std::string& implementation);

}  // namespace poolcast::live
