// SPDX-License-Identifier: Apache-2.0
#include "kernels/problem.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace poolcast::kernels {
namespace {

constexpr std::array kOperations = {
    Operation::kGemm,        Operation::kGroupedGemm,  Operation::kPrefillAttention, Operation::kDecodeAttention,
    Operation::kSoftmax,     Operation::kCrossEntropy, Operation::kRmsNorm,          Operation::kSiluGate,
    Operation::kResidualAdd, Operation::kRotary,       Operation::kKvStore,          Operation::kKvCopy,
    Operation::kAllReduce};
constexpr std::array<std::string_view, kOperations.size()> kOperationNames = {
    "gemm",          "grouped_gemm", "prefill_attention", "decode_attention", "softmax",
    "cross_entropy", "rms_norm",     "silu_gate",         "residual_add",     "rotary",
    "kv_store",      "kv_copy",      "all_reduce"};
constexpr std::array kDTypes = {DType::kBf16, DType::kFp32, DType::kInt8};
constexpr std::array<std::string_view, kDTypes.size()> kDTypeNames = {"bf16", "fp32", "int8"};

constexpr DimRule kGemm[] = {{"m", "rows, tokens"}, {"n", "outputs"}, {"k", "inputs"}};
constexpr DimRule kGrouped[] = {{"experts", "experts"},
                                {"tokens", "tokens of the step"},
                                {"top_k", "experts that each token is sent to"},
                                {"n", "outputs of an expert"},
                                {"k", "inputs of an expert"},
                                {"skew", "exponent of the Zipf law of the experts' shares, in hundredths", 0, 0}};
constexpr DimRule kPrefill[] = {
    {"query", "tokens of the chunk"},   {"context", "tokens in the cache before the chunk", 0, 0},
    {"heads", "query heads"},           {"kv_heads", "heads of K and V"},
    {"head_dim", "elements of a head"}, {"block", "tokens of a block of the cache", 1, 16}};
constexpr DimRule kDecode[] = {{"requests", "requests of the step"},
                               {"context", "tokens in the cache of each request"},
                               {"heads", "query heads"},
                               {"kv_heads", "heads of K and V"},
                               {"head_dim", "elements of a head"},
                               {"block", "tokens of a block of the cache", 1, 16}};
constexpr DimRule kRows[] = {{"rows", "rows"}, {"columns", "elements of a row"}};
constexpr DimRule kRotary[] = {{"tokens", "tokens"}, {"heads", "heads"}, {"head_dim", "elements of a head", 2}};
constexpr DimRule kStore[] = {{"tokens", "new tokens"},
                              {"kv_heads", "heads of K and V"},
                              {"head_dim", "elements of a head"},
                              {"block", "tokens of a block of the cache", 1, 16}};
constexpr DimRule kCopy[] = {{"blocks", "blocks to copy"},
                             {"block", "tokens of a block", 1, 16},
                             {"kv_heads", "heads of K and V"},
                             {"head_dim", "elements of a head"}};
constexpr DimRule kReduce[] = {{"ranks", "ranks", 2}, {"elements", "elements of each rank's vector"}};

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

template <class Names>
std::string listed(const Names& names) {
  std::string all;
  for (std::string_view one : names) all.append(all.empty() ? "" : ", ").append(one);
  return all;
}

std::string listed_dims(Operation operation) {
  std::vector<std::string_view> names;
  for (const DimRule& rule : dim_rules(operation)) names.push_back(rule.name);
  return listed(names);
}

std::string unfit_heads(const KernelProblem& problem) {
  if (problem.dim("heads") % problem.dim("kv_heads") == 0) return "";
  return "heads=" + std::to_string(problem.dim("heads")) +
         " is no multiple of kv_heads=" + std::to_string(problem.dim("kv_heads"));
}

std::string unfit(const KernelProblem& problem) {
  switch (problem.operation) {
    case Operation::kPrefillAttention:
    case Operation::kDecodeAttention:
      return unfit_heads(problem);
    case Operation::kRotary:
      return problem.dim("head_dim") % 2 == 0 ? "" : "head_dim is odd; rotary turns pairs";
    case Operation::kGroupedGemm:
      return problem.dim("top_k") <= problem.dim("experts") ? "" : "top_k is greater than experts";
    default:
      return "";
  }
}

/// Fills `problem.shape` in the order of the rules; returns what is wrong.
std::string take_dims(KernelProblem& problem, const std::vector<Dim>& given) {
  const std::string_view of = name(problem.operation);
  std::size_t used = 0;
  for (const DimRule& rule : dim_rules(problem.operation)) {
    const Dim* found = nullptr;
    for (const Dim& dim : given) {
      if (dim.name != rule.name) continue;
      if (found) return quoted(rule.name) + " is given twice";
      found = &dim;
      ++used;
    }
    if (!found && !rule.value_if_absent) return std::string(of) + " needs " + quoted(rule.name);
    const std::int64_t value = found ? found->value : *rule.value_if_absent;
    if (value < rule.least) return std::string(rule.name) + " must be at least " + std::to_string(rule.least);
    if (value > std::int64_t{1} << 32) return std::string(rule.name) + " is greater than 2^32";
    problem.shape.push_back({std::string(rule.name), value});
  }
  if (used == given.size()) return "";
  for (const Dim& dim : given) {
    bool known = false;
    for (const DimRule& rule : dim_rules(problem.operation)) known = known || dim.name == rule.name;
    if (!known) return std::string(of) + " has no " + quoted(dim.name) + "; it has " + listed_dims(problem.operation);
  }
  return "";
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

}  // namespace

std::string_view name(Operation operation) { return kOperationNames[static_cast<std::size_t>(operation)]; }
std::string_view name(DType dtype) { return kDTypeNames[static_cast<std::size_t>(dtype)]; }
std::span<const Operation> all_operations() { return kOperations; }

std::optional<Operation> operation_named(std::string_view text) {
  for (Operation operation : kOperations)
    if (name(operation) == text) return operation;
  return std::nullopt;
}

std::optional<DType> dtype_named(std::string_view text) {
  for (DType dtype : kDTypes)
    if (name(dtype) == text) return dtype;
  return std::nullopt;
}

int bytes_per_element(DType dtype) { return dtype == DType::kFp32 ? 4 : dtype == DType::kBf16 ? 2 : 1; }

std::span<const DimRule> dim_rules(Operation operation) {
  switch (operation) {
    case Operation::kGemm:
      return kGemm;
    case Operation::kGroupedGemm:
      return kGrouped;
    case Operation::kPrefillAttention:
      return kPrefill;
    case Operation::kDecodeAttention:
      return kDecode;
    case Operation::kSoftmax:
    case Operation::kCrossEntropy:
    case Operation::kRmsNorm:
    case Operation::kSiluGate:
    case Operation::kResidualAdd:
      return kRows;
    case Operation::kRotary:
      return kRotary;
    case Operation::kKvStore:
      return kStore;
    case Operation::kKvCopy:
      return kCopy;
    case Operation::kAllReduce:
      return kReduce;
  }
  return {};
}

std::span<const DType> dtypes_of(Operation operation) {
  const bool with_int8 =
      operation == Operation::kGemm || operation == Operation::kGroupedGemm || operation == Operation::kKvCopy;
  return std::span<const DType>(kDTypes).first(with_int8 ? 3 : 2);
}

std::int64_t KernelProblem::dim(std::string_view wanted) const {
  for (const Dim& one : shape)
    if (one.name == wanted) return one.value;
  std::fprintf(stderr, "poolcast: %s has no dimension %s\n", std::string(name(operation)).c_str(),
               std::string(wanted).c_str());
  std::abort();
}

ProblemOrError make_problem(Operation operation, DType dtype, std::vector<Dim> shape) {
  KernelProblem problem{operation, dtype, {}};
  bool defined = false;
  for (DType one : dtypes_of(operation)) defined = defined || one == dtype;
  if (!defined) return {std::nullopt, std::string(name(operation)) + " is not defined in " + std::string(name(dtype))};
  std::string error = take_dims(problem, shape);
  if (error.empty()) error = unfit(problem);
  if (error.empty() && bytes(problem) > Bytes(0x1p40)) error = "more than 2^40 bytes";
  if (!error.empty()) return {std::nullopt, error};
  return {std::move(problem), ""};
}

ProblemOrError parse_problem(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2)
    return {std::nullopt, "expected OPERATION FORMAT name=number..., for example gemm bf16 m=1 n=8 k=8"};
  const std::optional<Operation> operation = operation_named(words[0]);
  if (!operation)
    return {std::nullopt, "unknown operation " + quoted(words[0]) + "; known are " + listed(kOperationNames)};
  const std::optional<DType> dtype = dtype_named(words[1]);
  if (!dtype) return {std::nullopt, "unknown format " + quoted(words[1]) + "; known are " + listed(kDTypeNames)};
  std::vector<Dim> shape;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    Dim dim;
    if (equals != std::string_view::npos) {
      dim.name = word.substr(0, equals);
      const char* end = word.data() + word.size();
      const auto [stop, fault] = std::from_chars(word.data() + equals + 1, end, dim.value);
      if (fault == std::errc() && stop == end) {
        shape.push_back(dim);
        continue;
      }
    }
    return {std::nullopt, quoted(word) + " is not name=number"};
  }
  return make_problem(*operation, *dtype, std::move(shape));
}

std::string to_text(const KernelProblem& problem) {
  std::string text = std::string(name(problem.operation)) + ' ' + std::string(name(problem.dtype));
  for (const Dim& dim : problem.shape) text += ' ' + dim.name + '=' + std::to_string(dim.value);
  return text;
}

}  // namespace poolcast::kernels
