// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/replica_case.h"

#include <string>
#include <vector>

#include "sim/schedulers/buckets.h"
#include "tests/support/worlds.h"

using nlohmann::json;

namespace poolcast::oracle {
namespace {

constexpr SimTime kUs = 1000;

/// base + per_token * all tokens that run + per_context * decode context.
class CaseCurve final : public StepCurve {
 public:
  explicit CaseCurve(const json& step)
      : base_(1e-6 * step.value("base", 0.0)),
        per_token_(1e-6 * step.value("per_token", 0.0)),
        per_context_(1e-6 * step.value("per_context", 0.0)) {}

  Seconds step(const StepShape& shape) const override {
    return Seconds(base_ + per_token_ * static_cast<double>(shape.tokens) +
                   per_context_ * static_cast<double>(shape.decode_context));
  }
  DecodeLine decode_line(std::int64_t requests, Tokens) const override {
    return {base_ + per_token_ * static_cast<double>(requests), per_context_};
  }
  bool in_range(const StepShape&) const override { return true; }
  std::vector<StepTerm> terms(const StepShape& shape) const override { return {{"all", step(shape)}}; }
  std::string provenance() const override { return "a case"; }

 private:
  double base_, per_token_, per_context_;
};

void set_compiling(BucketedArgs& args, const json& c) {
  args.precompile = c.value("precompile", true);
  args.compile_seconds = c.value("compile_s", 0.0);
  args.compile_seconds_per_token = c.value("compile_s_per_token", 0.0);
  args.compile_cache = c.value("compile_cache", false);
  args.cached_compile_seconds = c.value("cached_compile_s", 0.0);
}

/// The lists of buckets follow from the stack's own rule, unless the case states them.
BucketedArgs bucketed(const json& c) {
  BucketedArgs args;
  const std::string flavour = c.at("flavour");
  args.max_num_seqs = c.at("max_num_seqs");
  args.max_model_len = c.at("max_model_len");
  args.request_buckets = {args.max_num_seqs};
  if (flavour == "tpu") {
    args.max_num_batched_tokens = c.at("max_num_batched_tokens");
    args.num_gpu_blocks = c.at("num_gpu_blocks");
    args.enable_prefix_caching = false;
    args.token_buckets = tpu_token_buckets(16, args.max_num_batched_tokens, c.value("padding_gap", 0));
    args.request_buckets = tpu_request_buckets(8, args.max_num_seqs);
  } else if (flavour == "neuron") {
    args.flavour = BucketedArgs::Flavour::kNeuron;
    args.token_buckets = args.context_buckets = neuron_buckets(128, args.max_model_len);
  } else {
    args.flavour = BucketedArgs::Flavour::kJetstream;
    args.token_buckets = jetstream_buckets(args.max_model_len);
    args.context_buckets = {args.max_model_len};
  }
  args.token_buckets = c.value("token_buckets", args.token_buckets);
  args.context_buckets = c.value("context_buckets", args.context_buckets);
  set_compiling(args, c);
  return args;
}

SessionArgs sessions(const json& c) {
  SessionArgs args;
  args.instance_count = c.value("instance_count", 1);
  args.intra_op_num_threads = c.value("intra_op_num_threads", 0);
  args.physical_cores = c.at("physical_cores");
  args.allow_spinning = c.value("allow_spinning", true);
  args.max_tokens = c.value("max_tokens", 512);
  args.passes = c.value("passes", 1);
  args.passes_by_output = c.value("passes_by_output", false);
  return args;
}

SimulationSpec world(const json& document, bool stepwise) {
  SimulationSpec spec = testing::one_pool(std::make_shared<CaseCurve>(document.at("step_us")));
  if (document.contains("bucketed")) {
    spec.pools[0].engine = bucketed(document.at("bucketed"));
  } else {
    spec.pools[0].engine = sessions(document.at("session"));
  }
  std::vector<Arrival> arrivals;
  for (const json& r : document.at("requests")) {
    arrivals.push_back(testing::arrival(1e-6 * r.at("at").get<double>(), r.at("prompt"), r.value("output", 1)));
  }
  testing::add_list(spec, std::move(arrivals));
  if (document.contains("patience_us")) spec.classes[0].patience = document.at("patience_us").get<SimTime>() * kUs;
  spec.stepwise = stepwise;
  return spec;
}

/// What `expect` says of a request: its instants, or why it has none.
json outcome_of(const RequestRecord& r) {
  if (r.outcome != Outcome::kCompleted) return {{name(r.outcome), name(r.reason)}, {"end", r.ended / kUs}};
  return {{"first", r.at.first_token / kUs}, {"end", r.ended / kUs}};
}

json counts_of(const ReplicaReport& r) {
  return {{"steps", r.steps},
          {"scheduled_tokens", r.scheduled_tokens},
          {"padded_tokens", r.padded_tokens},
          {"compiled", r.compiled},
          {"preemptions", r.preemptions},
          {"running_max", r.running_max},
          {"waiting_max", r.waiting_max},
          {"busy", r.busy / kUs}};
}

void compare(const json& document, bool stepwise) {
  testing::Recorder recorder;
  const Report report = simulate(world(document, stepwise), {&recorder});
  const json& requests = document.at("requests");
  std::vector<json> got(requests.size());
  for (const RequestRecord& r : recorder.records) got.at(r.row) = outcome_of(r);
  for (std::size_t i = 0; i < got.size(); ++i) expect(i, "request", requests.at(i).at("expect"), got[i]);
  const json counts = counts_of(report.replicas.at(0));
  for (const auto& [key, value] : document.at("counts").items()) expect(got.size(), key.c_str(), value, counts.at(key));
}

}  // namespace

Result check_replica(const json& document) {
  for (const bool stepwise : {false, true}) {
    try {
      compare(document, stepwise);
    } catch (const Difference& difference) {
      return differs(difference, stepwise ? "literal" : "leaping");
    }
  }
  return {};
}

}  // namespace poolcast::oracle
