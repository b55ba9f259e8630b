// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "kernels/registry.h"

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
  CHECK(checked >= 6);  // reference and the two portable ones at least
}

}  // namespace

TEST_CASE("every GEMM agrees with the reference on shapes with tails") {
  for (const char* format : {"fp32", "bf16", "int8"})
    for (const char* shape : {"m=1 n=1 k=1", "m=1 n=64 k=7", "m=5 n=63 k=64", "m=6 n=65 k=129", "m=13 n=131 k=37",
                              "m=97 n=100 k=515", "m=200 n=17 k=1031", "m=33 n=32 k=2050"})
      check(std::string("gemm ") + format + ' ' + shape);
}

TEST_CASE("every grouped GEMM agrees with the reference, also where experts get no row or all tokens") {
  for (const char* format : {"fp32", "bf16", "int8"})
    for (const char* shape :
         {"experts=1 tokens=1 top_k=1 n=1 k=1", "experts=5 tokens=3 top_k=2 n=65 k=33 skew=100",
          "experts=8 tokens=37 top_k=8 n=70 k=40", "experts=16 tokens=50 top_k=3 n=33 k=70 skew=250"})
      check(std::string("grouped_gemm ") + format + ' ' + shape);
}
