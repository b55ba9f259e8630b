// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels' own source on the CPU (emulation.h), against the double reference.   kernels_emulated [PROBLEM...]
// Exit 0: all sound; 1: a fault.
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/cuda/kernels.h"
#include "tests/cuda/emulation/check.h"
#include "tests/cuda/emulation/pretended.h"

using namespace poolcast;
using namespace poolcast::kernels;

namespace {

const char* const kProblems[] = {
    "gemm bf16 m=1 n=8 k=8",
    "gemm bf16 m=127 n=129 k=136",
    "gemm bf16 m=150 n=261 k=328",
    "gemm bf16 m=300 n=520 k=72",
    "gemm bf16 m=128 n=120 k=4096",
    "gemm bf16 m=520 n=1020 k=72",
    "gemm fp32 m=130 n=137 k=33",
    "gemm int8 m=129 n=260 k=144",
    "gemm int8 m=300 n=521 k=400",
    "gemm int8 m=33 n=35 k=37",
    "grouped_gemm bf16 experts=4 tokens=1 top_k=2 n=136 k=72",
    "grouped_gemm bf16 experts=6 tokens=150 top_k=2 n=140 k=136 skew=150",
    "grouped_gemm int8 experts=4 tokens=40 top_k=2 n=132 k=144 skew=120",
    "grouped_gemm fp32 experts=4 tokens=20 top_k=2 n=70 k=33",
    "prefill_attention bf16 query=1 heads=2 kv_heads=1 head_dim=128",
    "prefill_attention bf16 query=127 context=129 heads=2 kv_heads=1 head_dim=128",
    "prefill_attention bf16 query=150 context=333 heads=2 kv_heads=2 head_dim=128 block=32",
    "prefill_attention bf16 query=300 heads=1 kv_heads=1 head_dim=128 block=128",
    "prefill_attention bf16 query=65 context=10 heads=2 kv_heads=1 head_dim=80 block=13",
    "prefill_attention fp32 query=70 context=33 heads=2 kv_heads=1 head_dim=64",
    "decode_attention bf16 requests=1 context=1 heads=2 kv_heads=2 head_dim=128",
    "decode_attention bf16 requests=2 context=1000 heads=8 kv_heads=1 head_dim=128",
    "decode_attention bf16 requests=2 context=77 heads=40 kv_heads=2 head_dim=64 block=7",
    "decode_attention bf16 requests=1 context=100 heads=4 kv_heads=2 head_dim=96",
    "decode_attention fp32 requests=2 context=333 heads=4 kv_heads=2 head_dim=128",
    "softmax bf16 rows=7 columns=1001",
    "softmax fp32 rows=3 columns=100",
    "cross_entropy bf16 rows=7 columns=1001",
    "cross_entropy fp32 rows=5 columns=100",
    "rms_norm bf16 rows=7 columns=512",
    "rms_norm fp32 rows=3 columns=99",
    "silu_gate bf16 rows=7 columns=1001",
    "silu_gate fp32 rows=3 columns=100",
    "residual_add bf16 rows=7 columns=1001",
    "residual_add fp32 rows=3 columns=100",
    "rotary bf16 tokens=7 heads=2 head_dim=128",
    "rotary fp32 tokens=100 heads=3 head_dim=64",
    "kv_store bf16 tokens=37 kv_heads=2 head_dim=128",
    "kv_store fp32 tokens=7 kv_heads=3 head_dim=9 block=3",
    "kv_copy bf16 blocks=7 kv_heads=2 head_dim=128",
    "kv_copy bf16 blocks=5 block=3 kv_heads=1 head_dim=9",
    "all_reduce bf16 ranks=2 elements=1001",
    "all_reduce fp32 ranks=4 elements=1001",
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> texts(argv + 1, argv + argc);
  if (texts.empty()) texts.assign(std::begin(kProblems), std::end(kProblems));
  int faults = 0;
  for (const std::string& text : texts) {
    const ProblemOrError parsed = parse_problem(text);
    std::printf("%s %s\n", text.c_str(), parsed.error.c_str());
    if (!parsed.problem) return 1;
    for (const int major : {9, 10}) {
      for (const Kernel& kernel : cuda::cuda_kernels()) {
        const bool native = kernel.implementation != "cuda_portable";
        if (kernel.operation != parsed.problem->operation || (major == 10 && !native)) continue;
        if ((kernel.implementation == "cuda_hopper") != (major == 9) && native) continue;
        cuda::pretend(major, 3);
        faults += !sound(kernel, *parsed.problem, major == 9 ? "9.0" : "10.0");
      }
    }
  }
  std::printf("%d faults\n", faults);
  return faults == 0 ? 0 : 1;
}
