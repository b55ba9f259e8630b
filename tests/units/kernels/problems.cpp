// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <numeric>

#include "kernels/grouped_gemm/grouped_case.h"
#include "kernels/problem.h"
#include "kernels/registry.h"

using namespace poolcast::kernels;

namespace {

KernelProblem parsed(const std::string& text) {
  const ProblemOrError result = parse_problem(text);
  INFO(result.error);
  REQUIRE(result.problem);
  return *result.problem;
}

}  // namespace

TEST_CASE("a problem is read from text and written back in the order of its rules") {
  const KernelProblem problem = parsed("  gemm int8 k=3 n=2\tm=1 ");
  CHECK(to_text(problem) == "gemm int8 m=1 n=2 k=3");
  CHECK(parsed(to_text(problem)) == problem);
  CHECK(to_text(parsed("decode_attention bf16 requests=1 context=5 heads=4 kv_heads=2 head_dim=8")) ==
        "decode_attention bf16 requests=1 context=5 heads=4 kv_heads=2 head_dim=8 block=16");
}

TEST_CASE("a problem that makes no sense says why") {
  const std::pair<const char*, const char*> kCases[] = {
      {"gemm", "expected OPERATION FORMAT name=number..., for example gemm bf16 m=1 n=8 k=8"},
      {"gem bf16 m=1",
       "unknown operation \"gem\"; known are gemm, grouped_gemm, prefill_attention, decode_attention, softmax, "
       "cross_entropy, rms_norm, silu_gate, residual_add, rotary, kv_store, kv_copy, all_reduce"},
      {"gemm fp64 m=1", "unknown format \"fp64\"; known are bf16, fp32, int8"},
      {"softmax int8 rows=1 columns=1", "softmax is not defined in int8"},
      {"gemm bf16 m=1 n=2", "gemm needs \"k\""},
      {"gemm bf16 m=1 n=2 k=3 k=4", "\"k\" is given twice"},
      {"gemm bf16 m=1 n=2 k=3 q=4", "gemm has no \"q\"; it has m, n, k"},
      {"gemm bf16 m=1 n=2 k=x", "\"k=x\" is not name=number"},
      {"gemm bf16 m=1 n=2 k=", "\"k=\" is not name=number"},
      {"gemm bf16 m=0 n=2 k=3", "m must be at least 1"},
      {"gemm bf16 m=99999999999 n=2 k=3", "m is greater than 2^32"},
      {"gemm bf16 m=4000000 n=4000000 k=3", "more than 2^40 bytes"},
      {"rotary bf16 tokens=1 heads=1 head_dim=7", "head_dim is odd; rotary turns pairs"},
      {"grouped_gemm bf16 experts=2 tokens=1 top_k=3 n=1 k=1", "top_k is greater than experts"},
      {"prefill_attention bf16 query=1 heads=3 kv_heads=2 head_dim=8", "heads=3 is no multiple of kv_heads=2"},
  };
  for (const auto& [text, error] : kCases) {
    const ProblemOrError result = parse_problem(text);
    CHECK_FALSE(result.problem);
    CHECK(result.error == error);
  }
}

TEST_CASE("operations and least bytes follow their formulas") {
  const KernelProblem gemm = parsed("gemm bf16 m=2 n=3 k=5");
  CHECK(flops(gemm).value == 2 * 2 * 3 * 5);
  CHECK(bytes(gemm).value == 2 * (2 * 5 + 5 * 3 + 2 * 3));
  CHECK(bytes(parsed("gemm int8 m=2 n=3 k=5")).value == 2 * 5 + 5 * 3 + 4 * 2 * 3);
  // Token i of 3 sees 4 + i + 1: 5 + 6 + 7 = 18 pairs; K and V of 7 tokens, Q and the output of 3.
  const KernelProblem prefill = parsed("prefill_attention fp32 query=3 context=4 heads=2 kv_heads=1 head_dim=8");
  CHECK(flops(prefill).value == 4 * 2 * 8 * 18);
  CHECK(bytes(prefill).value == 4 * (2 * 3 * 2 * 8 + 2 * 7 * 8));
  const KernelProblem add = parsed("residual_add bf16 rows=3 columns=5");
  CHECK(flops(add).value == 15);
  CHECK(bytes(add).value == 2 * 3 * 15);  // two read, one written
  const KernelProblem store = parsed("kv_store bf16 tokens=7 kv_heads=3 head_dim=8");
  CHECK(to_text(store) == "kv_store bf16 tokens=7 kv_heads=3 head_dim=8 block=16");
  CHECK(flops(store).value == 0);
  CHECK(bytes(store).value == 2 * 4 * 7 * 3 * 8);  // K and V, read and written
}

TEST_CASE("experts share the rows by the law of skew, and each token has as many experts as asked for") {
  const KernelProblem even = parsed("grouped_gemm bf16 experts=4 tokens=6 top_k=2 n=1 k=1");
  CHECK(expert_rows(even) == std::vector<std::int64_t>{3, 3, 3, 3});
  const KernelProblem skewed = parsed("grouped_gemm bf16 experts=8 tokens=10 top_k=3 n=1 k=1 skew=300");
  const std::vector<std::int64_t> rows = expert_rows(skewed);
  CHECK(rows[0] == 10);  // all tokens, and no more
  CHECK(std::is_sorted(rows.rbegin(), rows.rend()));
  CHECK(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) == 30);
  const Routing routing = make_routing(skewed, 3);
  std::vector<int> of_token(10, 0);
  for (std::size_t expert = 0; expert < rows.size(); ++expert) {
    CHECK(routing.rows_of(expert) == rows[expert]);
    for (std::int64_t row = routing.first_row[expert]; row < routing.first_row[expert + 1]; ++row) {
      ++of_token[static_cast<std::size_t>(routing.token_of[static_cast<std::size_t>(row)])];
      if (row > routing.first_row[expert])  // no token twice
        CHECK(routing.token_of[static_cast<std::size_t>(row)] > routing.token_of[static_cast<std::size_t>(row) - 1]);
    }
  }
  CHECK(of_token == std::vector<int>(10, 3));
}

TEST_CASE("every operation has a reference and a portable kernel, and a kernel that cannot run says why") {
  for (Operation operation : all_operations()) {
    CHECK(find_kernel(operation, "reference"));
    CHECK(find_kernel(operation, "portable"));
  }
  CHECK_FALSE(find_kernel(Operation::kGemm, "abacus"));
  std::vector<std::string_view> gemms;  // of CPUs, from the simplest to the most native
  for (const Kernel& kernel : all_kernels())
    if (kernel.operation == Operation::kGemm && kernel.device == DeviceKind::kCpu && kernel.implementation != "onednn")
      gemms.push_back(kernel.implementation);
  CHECK(gemms == std::vector<std::string_view>{"reference", "portable_naive", "portable", "avx512", "amx"});
  if (const Kernel* const vendors = find_kernel(Operation::kGemm, "onednn"))
    CHECK(vendors < find_kernel(Operation::kGemm, "avx512"));
  CHECK(find_kernel(Operation::kGemm, "amx")->why_not(parsed("gemm fp32 m=1 n=1 k=1")) == "AMX has no fp32 tiles");
}
