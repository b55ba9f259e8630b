// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/units.h"

/// What a kernel is asked to do: an operation, a number format and named dimensions.
/// As text: `gemm bf16 m=512 n=512 k=512`; dimensions in any order, those with a default may be left out.
namespace poolcast::kernels {

enum class Operation {
  kGemm,              // C[m,n] = A[m,k] B[k,n]; B is a constant weight
  kGroupedGemm,       // each token's row times the weights of its top_k experts: C[tokens*top_k,n], rows by expert
  kPrefillAttention,  // causal, a chunk of `query` tokens after `context` tokens already in the paged KV cache
  kDecodeAttention,   // one query token of each request over `context` tokens of its own in the paged KV cache
  kSoftmax,           // of each row
  kCrossEntropy,      // of each row of logits: log(sum(exp(x))) - x[label]
  kRmsNorm,           // x / sqrt(mean(x^2) + 1e-6) * weight
  kSiluGate,          // of each row of `columns` gates, then as many ups: gate / (1 + exp(-gate)) * up
  kResidualAdd,       // x + y, element by element
  kRotary,            // rotates the pair (i, i + head_dim/2) of each head by position * 10000^(-2i/head_dim)
  kKvStore,   // K and V of `tokens` new tokens to their slots of the paged cache; they fill blocks in random order
  kKvCopy,    // copies blocks of the KV cache, K and V, to other blocks
  kAllReduce  // every rank gets the sum of all ranks' vectors
};

/// Inputs and outputs are in this format; sums are in fp32 (bf16, fp32) or int32 (int8). Products in int8 give int32
/// outputs; cross-entropy gives fp32 losses.
enum class DType { kBf16, kFp32, kInt8 };

std::string_view name(Operation operation);  // gemm, grouped_gemm, prefill_attention, ...
std::string_view name(DType dtype);          // bf16, fp32, int8
std::optional<Operation> operation_named(std::string_view name);
std::optional<DType> dtype_named(std::string_view name);
std::span<const Operation> all_operations();
int bytes_per_element(DType dtype);

/// A dimension that an operation has.
struct DimRule {
  std::string_view name;
  std::string_view meaning;
  std::int64_t least = 1;
  std::optional<std::int64_t> value_if_absent = std::nullopt;
};
/// In the order of the text form.
std::span<const DimRule> dim_rules(Operation operation);
/// Formats in which the operation is defined.
std::span<const DType> dtypes_of(Operation operation);

struct Dim {
  std::string name;
  std::int64_t value = 0;
  bool operator==(const Dim&) const = default;
};

struct KernelProblem {
  Operation operation = Operation::kGemm;
  DType dtype = DType::kBf16;
  std::vector<Dim> shape;  // complete and in the order of dim_rules, as make_problem and parse_problem leave it

  /// Value of a dimension that the operation has; another name is our bug and aborts.
  std::int64_t dim(std::string_view name) const;
  bool operator==(const KernelProblem&) const = default;
};

/// A problem, or why there is none: unknown or missing names, values too small, head counts that do not divide, a
/// format that the operation does not have, more than 2^40 bytes.
struct ProblemOrError {
  std::optional<KernelProblem> problem;
  std::string error;  // one line, empty when there is a problem
};
ProblemOrError make_problem(Operation operation, DType dtype, std::vector<Dim> shape);
ProblemOrError parse_problem(std::string_view text);
std::string to_text(const KernelProblem& problem);

/// Operations that the mathematics needs, whatever the kernel:
///   gemm 2mnk; grouped_gemm 2 tokens top_k n k; decode_attention 4 requests context heads head_dim;
///   prefill_attention 4 heads head_dim (query context + query (query + 1) / 2);
///   softmax 5, cross_entropy 4, rms_norm 4, rotary 3, silu_gate 5, residual_add 1 an element; kv_store, kv_copy 0;
///   all_reduce (ranks - 1) elements.
Flops flops(const KernelProblem& problem);

/// Least traffic with memory: each input read once, each output written once. Of grouped_gemm, the weights of the
/// experts that got a row; of attention, Q, K, V and the output; of kv_store, K and V of `tokens` read and written (as
/// of 4 tokens kv_heads head_dim elements); of kv_copy, those of `blocks`; of all_reduce, each rank's vector read and
/// written.
Bytes bytes(const KernelProblem& problem);

/// Rows that each expert of a grouped_gemm gets: shares by a Zipf law, expert e by (e + 1)^(-skew/100), at most
/// `tokens` each, in sum tokens * top_k, rounded by largest remainder. skew = 0 is even.
std::vector<std::int64_t> expert_rows(const KernelProblem& problem);

}  // namespace poolcast::kernels
