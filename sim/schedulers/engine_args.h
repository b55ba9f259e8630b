// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#include "sim/schedulers/bucketed_args.h"
#include "sim/schedulers/sglang_args.h"
#include "sim/schedulers/tensorrt_llm_args.h"
#include "sim/schedulers/triton_args.h"
#include "sim/schedulers/vllm_args.h"

namespace poolcast {

/// The engine of a pool: its kind and its arguments.
using EngineArgs = std::variant<VllmArgs, SglangArgs, TensorrtLlmArgs, BucketedArgs, TritonArgs, SessionArgs>;

}  // namespace poolcast
