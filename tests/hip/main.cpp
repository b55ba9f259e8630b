// SPDX-License-Identifier: Apache-2.0
// The HIP kernels' own source on the CPU, in waves of 64 (tests/cuda/emulation/emulation.h), against the double
// reference.   hip_kernels_emulated [PROBLEM...]   Exit 0: all sound; 1: a fault, or a problem or a shape of a
// calibration without a kernel.
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/hip/kernels.h"
#include "tests/cuda/emulation/check.h"
#include "tests/cuda/emulation/emulation.h"
#include "tests/hip/plan.h"

using namespace poolcast;
using namespace poolcast::kernels;

namespace {

const char* const kProblems[] = {
    "gemm bf16 m=1 n=8 k=8",
    "gemm bf16 m=127 n=129 k=136",
    "gemm bf16 m=150 n=261 k=72",
    "prefill_attention bf16 query=1 heads=2 kv_heads=1 head_dim=128",
    "prefill_attention bf16 query=1 context=96 heads=9 kv_heads=3 head_dim=64",
    "prefill_attention bf16 query=127 context=129 heads=2 kv_heads=1 head_dim=128",
    "prefill_attention bf16 query=77 context=33 heads=3 kv_heads=1 head_dim=64 block=7",
    "prefill_attention bf16 query=150 context=10 heads=2 kv_heads=2 head_dim=128 block=32",
    "decode_attention bf16 requests=1 context=1 heads=2 kv_heads=2 head_dim=128",
    "decode_attention bf16 requests=2 context=1000 heads=8 kv_heads=1 head_dim=128",
    "decode_attention bf16 requests=2 context=77 heads=40 kv_heads=2 head_dim=64 block=7",
    "softmax bf16 rows=7 columns=1001",
    "softmax bf16 rows=3 columns=4096",
    "softmax fp32 rows=3 columns=100",
    "softmax fp32 rows=2 columns=1",
    "cross_entropy bf16 rows=7 columns=1001",
    "cross_entropy bf16 rows=2 columns=1000",
    "cross_entropy fp32 rows=5 columns=100",
    "rms_norm bf16 rows=7 columns=512",
    "rms_norm bf16 rows=3 columns=1999",
    "rms_norm fp32 rows=3 columns=99",
    "silu_gate bf16 rows=7 columns=1001",
    "silu_gate bf16 rows=3 columns=5000",
    "silu_gate fp32 rows=3 columns=100",
    "residual_add bf16 rows=7 columns=1001",
    "residual_add bf16 rows=5 columns=512",
    "residual_add fp32 rows=3 columns=100",
    "rotary bf16 tokens=7 heads=5 head_dim=128",
    "rotary fp32 tokens=30 heads=3 head_dim=64",
    "kv_store bf16 tokens=37 kv_heads=2 head_dim=128",
    "kv_store bf16 tokens=5 kv_heads=3 head_dim=9 block=3",
    "kv_store fp32 tokens=7 kv_heads=3 head_dim=9 block=3",
    "kv_copy bf16 blocks=7 kv_heads=2 head_dim=128",
    "kv_copy int8 blocks=5 block=3 kv_heads=1 head_dim=9",
};

}  // namespace

int main(int argc, char** argv) {
  emulation::warp_lanes = 64;
  std::vector<std::string> texts(argv + 1, argv + argc);
  int faults = 0;
  if (texts.empty()) {
    texts.assign(std::begin(kProblems), std::end(kProblems));
    faults += shapes_without_kernel();
  }
  for (const std::string& text : texts) {
    const ProblemOrError parsed = parse_problem(text);
    std::printf("%s %s\n", text.c_str(), parsed.error.c_str());
    if (!parsed.problem) return 1;
    int able = 0;
    for (const Kernel& kernel : hip::hip_kernels()) {
      if (kernel.operation != parsed.problem->operation) continue;
      able += kernel.why_not(*parsed.problem).empty();
      faults += !sound(kernel, *parsed.problem, "64");
    }
    faults += able == 0;
  }
  std::printf("%d faults\n", faults);
  return faults == 0 ? 0 : 1;
}
