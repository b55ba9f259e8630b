// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/operators.h"

#include <algorithm>
#include <array>

#include "kernels/registry.h"
#include "models/error.h"

namespace poolcast::live {
namespace {

using namespace kernels;

void native_rms_norm(const RowTask& task, Team& team) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) { avx512_rms_norm(task, first, end); });
}

void native_silu_gate(const RowTask& task, Team& team) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) { avx512_silu_gate(task, first, end); });
}

void native_residual_add(const RowTask& task, Team& team) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) { avx512_residual_add(task, first, end); });
}

void native_rotary(const RotaryTask& task, Team& team) {
  constexpr std::int64_t kTokens = 64;
  team.parallel((task.tokens + kTokens - 1) / kTokens, [&](std::int64_t part) {
    avx512_rotary(task, part * kTokens, std::min(task.tokens, (part + 1) * kTokens));
  });
}

constexpr std::array<Operators, 3> kFromTheMostNative = {
    {{"amx", amx_weight, avx512_prefill_attention, amx_decode_attention, native_rms_norm, native_silu_gate,
      native_residual_add, native_rotary, native_kv_store},
     {"avx512", avx512_weight, avx512_prefill_attention, avx512_decode_attention, native_rms_norm, native_silu_gate,
      native_residual_add, native_rotary, native_kv_store},
     {"portable", portable_weight, portable_attention, portable_attention, portable_rms_norm, portable_silu_gate,
      portable_residual_add, portable_rotary, portable_kv_store}}};

/// Asked of the table of kernels, which knows what this machine can run.
std::string why_not(std::string_view implementation) {
  for (const char* text :
       {"gemm bf16 m=16 n=64 k=64", "prefill_attention bf16 query=16 context=16 heads=4 kv_heads=2 head_dim=64",
        "decode_attention bf16 requests=2 context=16 heads=4 kv_heads=2 head_dim=64"}) {
    const KernelProblem problem = parse_problem(text).problem.value();
    const Kernel* const kernel = find_kernel(problem.operation, implementation);
    if (kernel == nullptr) return "it is not in this build";
    if (std::string reason = kernel->why_not(problem); !reason.empty()) return reason;
  }
  return "";
}

}  // namespace

Operators operators(const std::string& implementation) {
  std::string reason = "portable, avx512, amx and auto are known";
  for (const Operators& candidate : kFromTheMostNative) {
    if (implementation != "auto" && implementation != candidate.name) continue;
    reason = why_not(candidate.name);
    if (reason.empty()) return candidate;
  }
  throw ModelError("no " + implementation + " kernels here: " + reason);
}

}  // namespace poolcast::live
