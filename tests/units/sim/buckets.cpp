// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/buckets.h"

#include <catch2/catch.hpp>

#include "tests/support/worlds.h"

// Expected lists and paddings: hand-worked from the rules of tpu-inference@b8692ff0, neuronx-distributed-inference@
// 4bcdc54b, vllm-neuron@a5ef7c8 and JetStream@acd4f5ad, as buckets.h and slot_scheduler.h state them.

using namespace poolcast;
using namespace poolcast::testing;

namespace {

using List = std::vector<std::int64_t>;
using Flavour = BucketedArgs::Flavour;

constexpr SimTime kMs = 1'000'000;

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

/// A step costs 1 ms per token that runs and 1 us per token of decode context.
std::shared_ptr<const StepCurve> per_token() {
  struct Curve final : StepCurve {
    Seconds step(const StepShape& s) const override {
      return Seconds(1e-3 * static_cast<double>(s.tokens) + 1e-6 * static_cast<double>(s.decode_context));
    }
    DecodeLine decode_line(std::int64_t requests, Tokens) const override {
      return {1e-3 * static_cast<double>(requests), 1e-6, INT64_MAX};
    }
    bool in_range(const StepShape&) const override { return true; }
    std::vector<StepTerm> terms(const StepShape& s) const override { return {{"all", step(s)}}; }
    std::string provenance() const override { return "test"; }
  };
  return std::make_shared<Curve>();
}

std::vector<RequestRecord> run(const BucketedArgs& args, std::vector<Arrival> arrivals, Report& report,
                               bool stepwise = false) {
  SimulationSpec spec = one_pool(per_token());
  spec.pools[0].engine = args;
  spec.stepwise = stepwise;
  add_list(spec, std::move(arrivals));
  Recorder recorder;
  report = simulate(std::move(spec), {&recorder});
  std::sort(recorder.records.begin(), recorder.records.end(),
            [](const RequestRecord& a, const RequestRecord& b) { return a.row < b.row; });
  return recorder.records;
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

TEST_CASE("a Neuron replica prefills one prompt a step, before any decode, and decodes all rows") {
  const bool stepwise = GENERATE(false, true);
  Report report;
  // 100 tokens run as 128: 128 ms. Then 4 rows over a bucket of 128 tokens each: 4 ms + 0.512 ms a step.
  const auto r =
      run(neuron(256, 4), {arrival(0, 100, 3), arrival(0.001, 100, 2), arrival(0.002, 120, 2)}, report, stepwise);
  REQUIRE(r.size() == 3);
  CHECK(r[0].at.first_token == 128 * kMs);
  CHECK(r[1].at.first_token == 256 * kMs);
  CHECK(r[2].at.first_token == 384 * kMs);
  CHECK(r[1].ended == 384 * kMs + 4'512'000);
  CHECK(r[2].ended == r[1].ended);
  CHECK(r[0].ended == 384 * kMs + 2 * 4'512'000);
  CHECK(report.replicas[0].padded_tokens == 28 + 28 + 8 + 1 + 3);
  CHECK(report.replicas[0].steps == 5);
}

TEST_CASE("a decode step that leaves its bucket takes the next one") {
  const bool stepwise = GENERATE(false, true);
  Report report;
  // Contexts 126, 127 in the bucket of 128, then 128 to 130 in that of 256.
  const auto r = run(neuron(256, 1), {arrival(0, 125, 6)}, report, stepwise);
  const SimTime small = 1 * kMs + 128'000, large = 1 * kMs + 256'000;
  CHECK(r[0].ended == 128 * kMs + 2 * small + 3 * large);
}

TEST_CASE("JetStream runs every slot over the whole length at every step") {
  BucketedArgs args = neuron(1024, 2);
  args.flavour = Flavour::kJetstream;
  args.token_buckets = jetstream_buckets(1024);
  args.context_buckets = {1024};
  Report report;
  const auto r = run(args, {arrival(0, 16, 2), arrival(0, 17, 3), arrival(0, 20, 1)}, report);
  const SimTime step = 2 * kMs + 2'048'000;
  CHECK(r[0].at.first_token == 16 * kMs);  // equality stays in its bucket
  CHECK(r[1].at.first_token == 48 * kMs);
  CHECK(r[0].ended == 48 * kMs + step);  // both slots are taken: one decode step frees the first
  CHECK(r[2].ended == 80 * kMs + step);  // and the third prompt comes before the next decode
  CHECK(r[1].ended == 80 * kMs + 2 * step);
}

TEST_CASE("the first use of a shape compiles it, the second does not, and a cache makes it cheaper") {
  const bool stepwise = GENERATE(false, true);
  BucketedArgs args = tpu(1024, 256);
  args.precompile = false;
  args.compile_seconds = 20;
  args.compile_seconds_per_token = 0.5;
  Report report;
  // Prefill in the bucket of 64, decodes in that of 16 (with the context of its 41 to 43 tokens).
  const auto cold = run(args, {arrival(0, 40, 4), arrival(1000, 50, 1)}, report, stepwise);
  CHECK(cold[0].at.first_token == (20'000 + 32'000 + 64) * kMs);
  CHECK(cold[0].ended == cold[0].at.first_token + (20'000 + 8'000 + 3 * 16) * kMs + (41 + 42 + 43) * 1000);
  CHECK(cold[1].at.first_token == 1'000'000 * kMs + 64 * kMs);
  CHECK(report.replicas[0].compiled == 2);

  args.compile_cache = true;
  args.cached_compile_seconds = 3;
  const auto cached = run(args, {arrival(0, 40, 4)}, report, stepwise);
  CHECK(cached[0].at.first_token == (3'000 + 64) * kMs);
  args.precompile = true;
  const auto warm = run(args, {arrival(0, 40, 4)}, report, stepwise);
  CHECK(warm[0].at.first_token == 64 * kMs);
  CHECK(report.replicas[0].compiled == 0);
}

TEST_CASE("a bucket that doubles wastes 97 % on a prompt just above half of it") {
  // tpu-inference#3466: 16,640 tokens run as 32,768.
  Report report;
  run(tpu(32'768, 256), {arrival(0, 16'640, 1)}, report);
  const ReplicaReport& r = report.replicas[0];
  CHECK(r.scheduled_tokens == 16'640);
  CHECK(static_cast<double>(r.padded_tokens) / static_cast<double>(r.scheduled_tokens) == Approx(0.969).epsilon(0.001));
}
