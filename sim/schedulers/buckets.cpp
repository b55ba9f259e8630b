// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/buckets.h"

#include <algorithm>

namespace poolcast {
namespace {

/// The first bucket that holds `n`; `n` itself where none does.
std::int64_t up(const std::vector<std::int64_t>& buckets, std::int64_t n) {
  const auto at = std::lower_bound(buckets.begin(), buckets.end(), n);
  return at == buckets.end() ? n : *at;
}

/// The first bucket above `n`; the last one also holds its own size (NxD Inference, modules/model_wrapper.py).
std::int64_t above(const std::vector<std::int64_t>& buckets, std::int64_t n) {
  const auto at = std::upper_bound(buckets.begin(), buckets.end(), n);
  return at == buckets.end() ? std::max(n, buckets.empty() ? n : buckets.back()) : *at;
}

}  // namespace

std::vector<std::int64_t> tpu_token_buckets(std::int64_t least, std::int64_t most, std::int64_t gap) {
  std::vector<std::int64_t> buckets = {least};
  while (buckets.back() < most) {
    const std::int64_t last = buckets.back();
    buckets.push_back(gap > 0 && 2 * last > gap ? last + gap : 2 * last);
  }
  return buckets;
}

std::vector<std::int64_t> tpu_request_buckets(std::int64_t least, std::int64_t most) {
  const std::int64_t cap = std::max(least, most);
  std::vector<std::int64_t> buckets;
  for (std::int64_t n = least; n < cap; n *= 2) buckets.push_back(n);
  buckets.push_back(cap);
  return buckets;
}

std::vector<std::int64_t> neuron_buckets(std::int64_t least, std::int64_t most) {
  if (least >= most) return {most};
  std::vector<std::int64_t> buckets;
  // The exponent stays below round(log2(most)): 2 * power <= sqrt(2) * most, in whole numbers.
  for (std::int64_t power = least; 2 * power * power <= most * most; power *= 2) buckets.push_back(power);
  buckets.push_back(most);
  return buckets;
}

std::vector<std::int64_t> jetstream_buckets(std::int64_t most) {
  std::vector<std::int64_t> buckets;
  for (std::int64_t n = 16; n < most && n <= 32768; n *= 2) buckets.push_back(n);
  buckets.push_back(most);
  return buckets;
}

void Buckets::pad_ragged(StepPlan& plan) {
  if (plan.tokens == 0) return;
  plan.padding.tokens = up(args_.token_buckets, plan.tokens);
  plan.padding.sampled = up(args_.request_buckets, plan.requests);
  use(plan, Program::kStep, plan.padding.tokens, plan.padding.sampled);
}

void Buckets::pad_prompt(StepPlan& plan) {
  const Tokens bucket = args_.flavour == BucketedArgs::Flavour::kNeuron ? above(args_.token_buckets, plan.tokens)
                                                                        : up(args_.token_buckets, plan.tokens);
  plan.padding.tokens = bucket;
  plan.padding.sampled = 1;
  plan.padded_prefill = {{bucket, 0}};
  use(plan, Program::kPrompt, bucket, 1);
}

/// NxD Inference compares strictly in lists of contexts alone, and not in those of rows and contexts.
bool Buckets::strict() const {
  return args_.flavour == BucketedArgs::Flavour::kNeuron && args_.request_buckets.size() < 2;
}

Tokens Buckets::context_bucket(Tokens longest) const {
  return strict() ? above(args_.context_buckets, longest) : up(args_.context_buckets, longest);
}

void Buckets::pad_decodes(StepPlan& plan, Tokens longest) {
  const std::int64_t rows = up(args_.request_buckets, plan.requests);
  const Tokens context = context_bucket(longest);
  plan.padding.tokens = plan.padding.sampled = plan.padding.decode_requests = rows;
  plan.padding.decode_context = rows * context;
  use(plan, Program::kDecode, context, rows);
}

std::int64_t Buckets::steps_in_bucket(Tokens longest) const {
  const Tokens bucket = context_bucket(longest);
  const bool last = args_.context_buckets.empty() || bucket >= args_.context_buckets.back();
  return std::max<std::int64_t>(1, bucket - longest + (last || !strict() ? 1 : 0));
}

/// A shape that was not used before is compiled first, or taken out of the cache.
void Buckets::use(StepPlan& plan, Program program, std::int64_t size, std::int64_t rows) {
  if (args_.precompile) return;
  if (!compiled_.insert({static_cast<std::int64_t>(program), size, rows}).second) return;
  ++plan.compiled;
  plan.stall += Seconds(args_.compile_cache
                            ? args_.cached_compile_seconds
                            : args_.compile_seconds + args_.compile_seconds_per_token * static_cast<double>(size));
}

}  // namespace poolcast
