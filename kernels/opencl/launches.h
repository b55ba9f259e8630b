// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/attention/attention_case.h"
#include "kernels/gemm/gemm_case.h"
#include "kernels/grouped_gemm/grouped_case.h"
#include "kernels/moves/kv_store.h"
#include "kernels/moves/move_case.h"
#include "kernels/opencl/device.h"
#include "kernels/rows/row_case.h"

/// What each operation builds, copies to the device and launches. The algorithms are in the .cl files.
namespace poolcast::kernels {

void opencl_gemm(GemmCase& data, OpenClRun& run);
void opencl_grouped_gemm(GroupedCase& data, OpenClRun& run);
void opencl_prefill(AttentionCase& data, OpenClRun& run);
void opencl_decode(AttentionCase& data, OpenClRun& run);
void opencl_rows(RowCase& data, OpenClRun& run);  // softmax, cross_entropy, rms_norm, silu_gate, residual_add
void opencl_rotary(RotaryCase& data, OpenClRun& run);
void opencl_store(KvStoreCase& data, OpenClRun& run);
void opencl_copy_blocks(KvCopyCase& data, OpenClRun& run);

}  // namespace poolcast::kernels
