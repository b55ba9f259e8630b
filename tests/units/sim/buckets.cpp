// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/buckets.h"

#include <catch2/catch.hpp>

#include "sim/schedulers/registry.h"

// Expected lists and paddings: hand-worked from the rules of tpu-inference@b8692ff0, neuronx-distributed-inference@
// 4bcdc54b, vllm-neuron@a5ef7c8 and JetStream@acd4f5ad, as buckets.h states them. What replicas make of them is in
// golden/buckets.

using namespace poolcast;

namespace {

using List = std::vector<std::int64_t>;
using Flavour = BucketedArgs::Flavour;

BucketedArgs neuron(std::int64_t seq_len, std::int64_t seqs) {
  BucketedArgs args;
  args.flavour = Flavour::kNeuron;
  args.max_num_seqs = seqs;
  args.max_model_len = seq_len;
  args.token_buckets = neuron_buckets(128, seq_len);
  args.context_buckets = neuron_buckets(128, seq_len);
  args.request_buckets = {seqs};
  return args;
}

BucketedArgs tpu(std::int64_t tokens, std::int64_t seqs) {
  BucketedArgs args;
  args.max_num_batched_tokens = tokens;
  args.max_num_seqs = seqs;
  args.max_model_len = 100'000;
  args.num_gpu_blocks = 100'000;
  args.token_buckets = tpu_token_buckets(16, tokens, 0);
  args.request_buckets = tpu_request_buckets(8, seqs);
  return args;
}

StepPlan plan(Tokens tokens, std::int64_t requests) {
  StepPlan p;
  p.tokens = tokens;
  p.requests = requests;
  return p;
}

}  // namespace

TEST_CASE("bucket lists are those of each stack's own rule") {
  CHECK(tpu_token_buckets(16, 1024, 0) == List{16, 32, 64, 128, 256, 512, 1024});
  CHECK(tpu_token_buckets(16, 2000, 0) == List{16, 32, 64, 128, 256, 512, 1024, 2048});
  CHECK(tpu_token_buckets(16, 1000, 256) == List{16, 32, 64, 128, 256, 512, 768, 1024});
  CHECK(tpu_request_buckets(8, 256) == List{8, 16, 32, 64, 128, 256});
  CHECK(tpu_request_buckets(8, 100) == List{8, 16, 32, 64, 100});
  CHECK(tpu_request_buckets(8, 4) == List{8});
  CHECK(neuron_buckets(128, 600) == List{128, 256, 600});
  CHECK(neuron_buckets(128, 768) == List{128, 256, 512, 768});
  CHECK(neuron_buckets(128, 1000) == List{128, 256, 512, 1000});
  CHECK(neuron_buckets(128, 4096) == List{128, 256, 512, 1024, 2048, 4096});
  CHECK(neuron_buckets(128, 128) == List{128});
  CHECK(jetstream_buckets(1024) == List{16, 32, 64, 128, 256, 512, 1024});
  CHECK(jetstream_buckets(1000) == List{16, 32, 64, 128, 256, 512, 1000});
}

TEST_CASE("vLLM on TPU pads tokens and requests up to their buckets, and attention not at all") {
  Buckets buckets(tpu(1024, 256));
  StepPlan p = plan(203, 4);
  buckets.pad_ragged(p);
  CHECK(p.padding == Padding{256, 8, 0, 0});
  p = plan(17, 17);
  buckets.pad_ragged(p);
  CHECK(p.padding == Padding{32, 32, 0, 0});
  p = plan(256, 8);
  buckets.pad_ragged(p);
  CHECK(p.padding == Padding{256, 8, 0, 0});
}

TEST_CASE("Neuron takes the next larger bucket when a length equals one, except for the largest") {
  const BucketedArgs args = neuron(4096, 4);
  Buckets buckets(args);
  const auto prompt = [&](Tokens tokens) {
    StepPlan p = plan(tokens, 1);
    buckets.pad_prompt(p);
    REQUIRE(p.padded_prefill.size() == 1);
    CHECK(p.padded_prefill[0].query == p.padding.tokens);
    return p.padding.tokens;
  };
  CHECK(prompt(511) == 512);
  CHECK(prompt(512) == 1024);
  CHECK(prompt(4096) == 4096);
  StepPlan p = plan(3, 3);
  buckets.pad_decodes(p, 1000);
  CHECK(p.padding == Padding{4, 4, 4, 4 * 1024});
  p = plan(3, 3);
  buckets.pad_decodes(p, 1024);
  CHECK(p.padding.decode_context == 4 * 2048);
  CHECK(buckets.steps_in_bucket(1000) == 24);  // 1000 to 1023
  CHECK(buckets.steps_in_bucket(1024) == 1024);
  CHECK(buckets.steps_in_bucket(4000) == 97);  // 4000 to 4096
}

TEST_CASE("Neuron's lists of rows and contexts take a length into the bucket of its size") {
  BucketedArgs args = neuron(4096, 4);
  args.request_buckets = {1, 2, 4};
  Buckets buckets(args);
  const auto decode = [&](std::int64_t requests, Tokens longest) {
    StepPlan p = plan(requests, requests);
    buckets.pad_decodes(p, longest);
    return p.padding;
  };
  CHECK(decode(2, 1024) == Padding{2, 2, 2, 2 * 1024});
  CHECK(decode(3, 1025) == Padding{4, 4, 4, 4 * 2048});
  CHECK(buckets.steps_in_bucket(1000) == 25);  // 1000 to 1024
  CHECK(buckets.steps_in_bucket(1025) == 1024);
  CHECK(buckets.steps_in_bucket(4000) == 97);
}

TEST_CASE("a prompt above the largest compiled one is refused") {
  BucketedArgs args = neuron(1024, 4);
  args.token_buckets = neuron_buckets(128, 512);
  CHECK(refusal(args, 512, 100) == Reason::kNone);
  CHECK(refusal(args, 513, 100) == Reason::kShape);
  args.flavour = Flavour::kJetstream;
  CHECK(refusal(args, 512, 100) == Reason::kNone);
  CHECK(refusal(args, 513, 100) == Reason::kShape);
  CHECK(refusal(tpu(256, 4), 513, 100) == Reason::kNone);  // by chunks
}
