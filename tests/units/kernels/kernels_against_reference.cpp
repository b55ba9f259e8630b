// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "kernels/registry.h"
#include "kernels/timer.h"

using namespace poolcast;
using namespace poolcast::kernels;

namespace {

/// Runs the problem on every implementation that can, from poisoned outputs, with one thread and with two.
void check(const std::string& text) {
  const ProblemOrError parsed = parse_problem(text);
  INFO(text << ' ' << parsed.error);
  REQUIRE(parsed.problem);
  const KernelProblem& problem = *parsed.problem;
  int checked = 0;
  for (int threads : {1, 2}) {
    Team team(threads);
    for (const Kernel* kernel : kernels_for(problem)) {
      if (threads > 1 && kernel->device != DeviceKind::kCpu) continue;  // devices have no use for the team
      const auto prepared = kernel->prepare(problem, 7, team);
      prepared->poison();
      CHECK(prepared->error() > 1e300);
      for (int again = 0; again < 2; ++again) {
        prepared->run();
        INFO(kernel->implementation << " on " << threads << " threads, run " << again);
        CHECK(prepared->error() <= allowed_error(problem));
      }
      prepared->cool();
      ++checked;
    }
  }
  CHECK(checked >= 4);  // the reference and a portable one at least
}

}  // namespace

TEST_CASE("every GEMM agrees with the reference on shapes with tails") {
  for (const char* format : {"fp32", "bf16", "int8"})
    for (const char* shape :
         {"m=1 n=1 k=1", "m=1 n=64 k=7", "m=4 n=70 k=70", "m=3 n=16387 k=9", "m=5 n=63 k=64", "m=6 n=65 k=129",
          "m=13 n=131 k=37", "m=97 n=100 k=515", "m=200 n=17 k=1031", "m=33 n=32 k=2050"})
      check(std::string("gemm ") + format + ' ' + shape);
}

TEST_CASE("what is cold runs on other copies of a weight, or of K and V, and each says the same") {
  // Some copies of the large ones empty a cache; the small ones are evicted.
  for (const char* shape : {"gemm bf16 m=3 n=1024 k=1024", "gemm bf16 m=3 n=64 k=64",
                            "decode_attention bf16 requests=3 context=999 heads=6 kv_heads=3 head_dim=64",
                            "decode_attention bf16 requests=1 context=30 heads=2 kv_heads=1 head_dim=64"}) {
    const KernelProblem problem = *parse_problem(shape).problem;
    Team team(1);
    for (const Kernel* kernel : kernels_for(problem)) {
      if (kernel->device != DeviceKind::kCpu || kernel->implementation == "reference") continue;
      const auto prepared = kernel->prepare(problem, 7, team);
      for (int i = 0; i < 3; ++i) {
        prepared->poison();
        prepared->cool();
        prepared->run();
        INFO(kernel->implementation << ' ' << shape);
        CHECK(prepared->error() <= allowed_error(problem));
      }
    }
  }
}

TEST_CASE("what is cold is slower than what is warm") {
  const char* shape = GENERATE("gemm bf16 m=1 n=1024 k=1024",
                               "decode_attention bf16 requests=2 context=1024 heads=6 kv_heads=3 head_dim=64");
  const KernelProblem problem = *parse_problem(shape).problem;
  Team team(1);
  const Kernel* const native = find_kernel(problem.operation, "avx512");
  if (!native->why_not(problem).empty()) return;
  const auto kernel = native->prepare(problem, 7, team);
  const auto best = [&](bool cold) {
    Seconds least(1);
    for (int i = 0; i < 40; ++i) {
      if (cold) kernel->cool();
      least = std::min(least, time_run(*kernel, team).cpu);
    }
    return least;
  };
  CHECK(best(false) < best(true));
}

TEST_CASE("every grouped GEMM agrees with the reference, also where experts get no row or all tokens") {
  for (const char* format : {"fp32", "bf16", "int8"})
    for (const char* shape :
         {"experts=1 tokens=1 top_k=1 n=1 k=1", "experts=5 tokens=3 top_k=2 n=65 k=33 skew=100",
          "experts=8 tokens=37 top_k=8 n=70 k=40", "experts=16 tokens=50 top_k=3 n=33 k=70 skew=250"})
      check(std::string("grouped_gemm ") + format + ' ' + shape);
}

TEST_CASE("every decode attention agrees with the reference: groups of heads, blocks that are not full") {
  for (const char* format : {"fp32", "bf16"})
    for (const char* shape : {"requests=1 context=1 heads=1 kv_heads=1 head_dim=1",
                              "requests=3 context=37 heads=6 kv_heads=3 head_dim=20 block=5",
                              "requests=2 context=1 heads=4 kv_heads=2 head_dim=32",
                              "requests=2 context=65 heads=16 kv_heads=2 head_dim=64",
                              "requests=1 context=200 heads=7 kv_heads=1 head_dim=96 block=1",
                              "requests=1 context=131 heads=11 kv_heads=1 head_dim=128 block=32",
                              "requests=2 context=129 heads=4 kv_heads=4 head_dim=256 block=7"})
      check(std::string("decode_attention ") + format + ' ' + shape);
}

TEST_CASE("every prefill attention agrees with the reference: causal, over a context, groups of heads") {
  for (const char* format : {"fp32", "bf16"})
    for (const char* shape :
         {"query=1 heads=1 kv_heads=1 head_dim=1", "query=7 context=3 heads=6 kv_heads=2 head_dim=20 block=4",
          "query=33 heads=4 kv_heads=1 head_dim=32", "query=65 context=70 heads=6 kv_heads=2 head_dim=64 block=16",
          "query=5 context=131 heads=7 kv_heads=1 head_dim=96 block=3", "query=130 heads=2 kv_heads=2 head_dim=128"})
      check(std::string("prefill_attention ") + format + ' ' + shape);
}

TEST_CASE("every kernel over rows agrees with the reference") {
  for (const char* format : {"fp32", "bf16"})
    for (const char* operation : {"softmax", "cross_entropy", "rms_norm", "silu_gate", "residual_add"})
      for (const char* shape : {"rows=1 columns=1", "rows=3 columns=31", "rows=5 columns=32", "rows=300 columns=257",
                                "rows=2 columns=32003"})
        check(std::string(operation) + ' ' + format + ' ' + shape);
}

TEST_CASE("every rotary embedding agrees with the reference") {
  for (const char* format : {"fp32", "bf16"})
    for (const char* shape :
         {"tokens=1 heads=1 head_dim=2", "tokens=3 heads=5 head_dim=34", "tokens=17 heads=4 head_dim=128"})
      check(std::string("rotary ") + format + ' ' + shape);
}

TEST_CASE("every store of new K and V in the paged cache is exact") {
  for (const char* format : {"fp32", "bf16"})
    for (const char* shape : {"tokens=1 kv_heads=1 head_dim=1", "tokens=9 kv_heads=3 head_dim=7 block=5",
                              "tokens=50 kv_heads=2 head_dim=64", "tokens=300 kv_heads=5 head_dim=100 block=1"})
      check(std::string("kv_store ") + format + ' ' + shape);
}

TEST_CASE("every copy of KV blocks is exact") {
  for (const char* format : {"fp32", "bf16", "int8"})
    for (const char* shape : {"blocks=1 block=1 kv_heads=1 head_dim=1", "blocks=9 block=5 kv_heads=3 head_dim=7",
                              "blocks=12 block=16 kv_heads=2 head_dim=64"})
      check(std::string("kv_copy ") + format + ' ' + shape);
}

TEST_CASE("every all-reduce agrees with the reference at every rank") {
  for (const char* format : {"fp32", "bf16"})
    for (const char* shape : {"ranks=2 elements=1", "ranks=3 elements=1031", "ranks=8 elements=20001"})
      check(std::string("all_reduce ") + format + ' ' + shape);
}
