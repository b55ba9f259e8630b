// SPDX-License-Identifier: Apache-2.0
// The six gates: their reasons one by one, what each way of traffic is held to, and who gets what nobody may serve.
#include "sim/gates.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "sim/evaluation.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// `pools` pools of one model, and the classes `chat` and `batch`.
SimulationSpec world(std::size_t pools) {
  SimulationSpec spec = one_pool(fixed_step(1e-3));
  for (std::size_t p = 1; p < pools; ++p) {
    PoolSpec pool = spec.pools[0];
    pool.name = "pool" + std::to_string(p);
    spec.pools.push_back(pool);
    spec.models[0].implementations.push_back({.pool = PoolId(p)});
    spec.routing.pool.emplace_back();
  }
  spec.classes.push_back({.name = "batch", .model = ModelId(0u), .objectives = {}, .batch = true});
  return spec;
}

RequestRecord request(std::int64_t prompt = 100, std::int64_t output = 10, std::uint32_t cls = 0) {
  RequestRecord r;
  r.cls = ClassId(cls);
  r.model = ModelId(0u);
  r.prompt_tokens = prompt;
  r.output_target = output;
  return r;
}

/// Why the only implementation refuses, once `change` was made to it.
template <class Change>
Reason refusal(Change change, const RequestRecord& r = request(), Via via = Via::kGateway) {
  SimulationSpec spec = world(1);
  change(spec, spec.models[0].implementations[0]);
  return Gates(spec).refusal(r, PoolId(0u), via);
}

Reason of_status(ImplementationStatus status, Via via, std::uint32_t cls = 0, std::vector<double> weights = {}) {
  return refusal(
      [&](SimulationSpec& spec, ImplementationSpec& implementation) {
        implementation.status = status;
        spec.routing.gateway.weights = weights;
      },
      request(100, 10, cls), via);
}

}  // namespace

TEST_CASE("a score's bound is the lower end of Wilson's one-sided interval") {
  // (p + z²/2n - z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n) with z = 1.6448536, and 1.2815516 at 90 %, by hand.
  CHECK(wilson_low(0.871, 4000, 0.95) == Approx(0.8620308846).epsilon(1e-7));
  CHECK(wilson_low(0.869, 2500, 0.95) == Approx(0.8575004409).epsilon(1e-7));
  CHECK(wilson_low(0.869, 2500, 0.90) == Approx(0.8601092713).epsilon(1e-7));
  CHECK(wilson_low(0.9, 100, 0.95) == Approx(0.8396444904).epsilon(1e-7));
  CHECK(wilson_low(1, 10, 0.95) == Approx(0.7870580299).epsilon(1e-6));
  CHECK(wilson_low(0, 10, 0.95) == Approx(0).margin(1e-12));
  CHECK(wilson_low(0.5, 1, 0.5) == Approx(0.5));
}

TEST_CASE("a status says which traffic an implementation gets") {
  using S = ImplementationStatus;
  CHECK(of_status(S::kProduction, Via::kGateway) == Reason::kNone);
  CHECK(of_status(S::kExperimental, Via::kGateway) == Reason::kExperimental);
  CHECK(of_status(S::kExperimental, Via::kGateway, 0, {1}) == Reason::kExperimental);
  CHECK(of_status(S::kExperimental, Via::kMove) == Reason::kExperimental);
  CHECK(of_status(S::kExperimental, Via::kMirror) == Reason::kNone);
  CHECK(of_status(S::kRetired, Via::kGateway) == Reason::kRetired);
  CHECK(of_status(S::kRetired, Via::kMirror) == Reason::kRetired);
  CHECK(of_status(S::kRetired, Via::kCompatibility) == Reason::kRetired);
  CHECK(of_status(S::kBatchOnly, Via::kGateway) == Reason::kBatchOnly);
  CHECK(of_status(S::kBatchOnly, Via::kMove) == Reason::kBatchOnly);
  CHECK(of_status(S::kBatchOnly, Via::kGateway, 1) == Reason::kNone);
  CHECK(of_status(S::kCanary, Via::kGateway) == Reason::kCanary);
  CHECK(of_status(S::kCanary, Via::kFallback) == Reason::kCanary);
  CHECK(of_status(S::kCanary, Via::kGateway, 0, {0.1}) == Reason::kNone);
  CHECK(of_status(S::kCanary, Via::kMove) == Reason::kNone);
}

TEST_CASE("each limit has its reason") {
  const auto limited = [](std::int64_t prompt, std::int64_t output) {
    return refusal(
        [](SimulationSpec& spec, ImplementationSpec& implementation) {
          implementation.context_limit = 1000;
          implementation.input_limit = 500;
          implementation.output_limit = 600;
          implementation.shapes = {{256, 1000}, {512, 700}};
          spec.pools[0].vllm().num_gpu_blocks = 1 + 800 / 16;
        },
        request(prompt, output));
  };
  CHECK(limited(400, 601) == Reason::kContextLimit);
  CHECK(limited(501, 10) == Reason::kInputLimit);
  CHECK(limited(300, 601) == Reason::kOutputLimit);
  CHECK(limited(257, 443) == Reason::kNone);   // the second shape
  CHECK(limited(257, 444) == Reason::kShape);  // too long for it, and the first takes no such prompt
  CHECK(limited(256, 444) == Reason::kNone);
  CHECK(limited(256, 600) == Reason::kKvCapacity);
}

TEST_CASE("what depends on no request has its reason too") {
  using I = ImplementationSpec;
  CHECK(refusal([](SimulationSpec& s, I&) { s.classes[0].barred = {PoolId(0u)}; }) == Reason::kDataHandling);
  CHECK(refusal([](SimulationSpec& s, I& i) { s.models[0].streaming = true, i.streams = false; }) ==
        Reason::kNoStreaming);
  CHECK(refusal([](SimulationSpec& s, I& i) { s.models[0].cancellation = true, i.cancels = false; }) ==
        Reason::kNoCancellation);
  CHECK(refusal([](SimulationSpec&, I& i) { i.streams = i.cancels = false; }) == Reason::kNone);
  for (const Reason evidence :
       {Reason::kEvaluationMissing, Reason::kEvaluationSamples, Reason::kBelowThreshold, Reason::kNotConfident}) {
    CHECK(refusal([&](SimulationSpec&, I& i) { i.evaluation = evidence; }) == evidence);
  }
  for (const Reason cost : {Reason::kPriceUnknown, Reason::kCostLimit, Reason::kCostMargin}) {
    CHECK(refusal([&](SimulationSpec&, I& i) { i.economics = cost; }) == cost);
  }
}

TEST_CASE("a pool of another model is refused, unless the gateway sends requests there on purpose") {
  SimulationSpec spec = world(2);
  ModelSpec other = spec.models[0];
  other.name = "other";
  other.implementations = {spec.models[0].implementations[1]};
  spec.models[0].implementations.pop_back();
  spec.models.push_back(other);
  const Gates gates(spec);
  CHECK(gates.refusal(request(), PoolId(0u)) == Reason::kNone);
  CHECK(gates.refusal(request(), PoolId(1u)) == Reason::kOtherModel);
  CHECK(gates.refusal(request(), PoolId(1u), Via::kMove) == Reason::kOtherModel);
  CHECK(gates.refusal(request(), PoolId(1u), Via::kFallback) == Reason::kNone);
}

TEST_CASE("every gate is told at once, and the first that fails is the reason") {
  SimulationSpec spec = world(1);
  ImplementationSpec& implementation = spec.models[0].implementations[0];
  spec.classes[0].barred = {PoolId(0u)};
  implementation.status = ImplementationStatus::kExperimental;
  implementation.context_limit = 50;
  implementation.evaluation = Reason::kNotConfident;
  implementation.economics = Reason::kCostLimit;
  const GateVerdicts all = Gates(spec).judge_all(request(), PoolId(0u), false);
  CHECK(all.of(Gate::kModel) == Reason::kDataHandling);
  CHECK(all.of(Gate::kArtifact) == Reason::kExperimental);
  CHECK(all.of(Gate::kLimits) == Reason::kContextLimit);
  CHECK(all.of(Gate::kEvaluation) == Reason::kNotConfident);
  CHECK(all.of(Gate::kCapacity) == Reason::kQueueFull);
  CHECK(all.of(Gate::kEconomics) == Reason::kCostLimit);
  CHECK(all.first() == Reason::kDataHandling);
  CHECK_FALSE(all.passed());

  const GateVerdicts last = Gates(spec).judge_all(request(), PoolId(0u), true, Via::kCompatibility);
  CHECK(last.of(Gate::kArtifact) == Reason::kNone);
  CHECK(last.of(Gate::kEvaluation) == Reason::kNone);
  CHECK(last.of(Gate::kEconomics) == Reason::kNone);
  CHECK(last.of(Gate::kLimits) == Reason::kContextLimit);
}

TEST_CASE("a verdict of every gate agrees with the one that a request meets") {
  SimulationSpec spec = world(3);
  spec.models[0].implementations[0].context_limit = 60;
  spec.models[0].implementations[1].evaluation = Reason::kBelowThreshold;
  const Gates gates(spec);
  for (std::uint32_t p = 0; p < 3; ++p) {
    for (int via = 0; via < kVias; ++via) {
      const RequestRecord r = request();
      CHECK(gates.judge_all(r, PoolId(p), true, static_cast<Via>(via)).first() ==
            gates.refusal(r, PoolId(p), static_cast<Via>(via)));
    }
  }
}

TEST_CASE("reasons and gates have names of their own") {
  std::set<std::string> names;
  for (int i = 0; i < kReasons; ++i) names.insert(name(static_cast<Reason>(i)));
  CHECK(names.size() == kReasons);
  CHECK(std::string(name(Gate::kEconomics)) == "economics");
  CHECK(gate_of(Reason::kShape) == Gate::kLimits);
}

TEST_CASE("a request is rejected for the reason that is nearest to being served") {
  CHECK(nearer(Reason::kNoEligiblePool, Reason::kCanary) == Reason::kCanary);
  CHECK(nearer(Reason::kContextLimit, Reason::kCanary) == Reason::kContextLimit);
  CHECK(nearer(Reason::kCanary, Reason::kShape) == Reason::kShape);
  CHECK(nearer(Reason::kQueueFull, Reason::kShape) == Reason::kQueueFull);
}

namespace {

struct Ran {
  Report report;
  std::vector<RequestRecord> records;
};

Ran run(SimulationSpec spec) {
  Recorder recorder;
  Ran ran;
  ran.report = simulate(std::move(spec), {&recorder});
  ran.records = recorder.records;
  return ran;
}

}  // namespace

TEST_CASE("what no implementation may serve goes to the compatibility pool, if that can hold it") {
  SimulationSpec spec = world(2);
  spec.models[0].compatibility = PoolId(1u);
  spec.models[0].implementations[0].shapes = {{INT64_MAX, 200}};
  spec.models[0].implementations[1].status = ImplementationStatus::kExperimental;
  spec.models[0].implementations[1].evaluation = Reason::kEvaluationMissing;
  spec.models[0].implementations[1].context_limit = 5000;
  add_list(spec, {arrival(0, 100, 10), arrival(1, 1000, 10), arrival(2, 100, 10), arrival(3, 6000, 10)});
  const Ran ran = run(std::move(spec));
  REQUIRE(ran.records.size() == 4);
  std::map<std::uint64_t, RequestRecord> rows;
  for (const RequestRecord& r : ran.records) rows[r.row] = r;
  CHECK(rows[0].pool == PoolId(0u));
  CHECK(rows[1].pool == PoolId(1u));
  CHECK(rows[2].pool == PoolId(0u));  // the compatibility pool takes nothing else
  CHECK(rows[3].outcome == Outcome::kRejected);
  CHECK(rows[3].reason == Reason::kShape);
  CHECK(ran.report.gates.nobody[0] == 2);
  CHECK(ran.report.gates.compatibility[0] == 1);
  CHECK(ran.report.gates.counts[0][0][static_cast<std::size_t>(Reason::kNone)] == 2);
  CHECK(ran.report.gates.counts[0][0][static_cast<std::size_t>(Reason::kShape)] == 2);
}

TEST_CASE("a busy specialist does not send its requests to the compatibility pool") {
  SimulationSpec spec = world(2);
  spec.models[0].compatibility = PoolId(1u);
  spec.pools[0].max_pending_requests = 0;
  spec.pools[0].vllm().max_num_seqs = 1;
  add_list(spec, {arrival(0, 100, 1000), arrival(0.1, 100, 10)});
  const Ran ran = run(std::move(spec));
  CHECK(ran.report.gates.compatibility[0] == 0);
  CHECK(ran.records.size() == 2);
  CHECK(ran.records[0].reason == Reason::kQueueFull);
}

TEST_CASE("requests outside the contract are told which limit they break") {
  SimulationSpec spec = world(1);
  spec.models[0].input_limit = 200;
  spec.models[0].output_limit = 50;
  spec.models[0].context_limit = 220;
  add_list(spec, {arrival(0, 201, 1), arrival(1, 10, 51), arrival(2, 190, 40)});
  const Ran ran = run(std::move(spec));
  REQUIRE(ran.records.size() == 3);
  CHECK(ran.records[0].reason == Reason::kInputLimit);
  CHECK(ran.records[1].reason == Reason::kOutputLimit);
  CHECK(ran.records[2].reason == Reason::kContextLimit);
}

TEST_CASE("truncation cuts to what an implementation that may serve the class takes") {
  SimulationSpec spec = world(2);
  spec.models[0].on_too_long = TooLong::kTruncate;
  spec.models[0].implementations[0].shapes = {{INT64_MAX, 200}};
  spec.models[0].implementations[1].status = ImplementationStatus::kBatchOnly;
  Arrival batch = arrival(1, 300, 100);
  batch.cls = ClassId(1u);
  add_list(spec, {arrival(0, 300, 100), batch});
  const Ran ran = run(std::move(spec));
  REQUIRE(ran.records.size() == 2);
  CHECK(ran.records[0].prompt_tokens == 199);
  CHECK(ran.records[0].output_tokens == 1);
  CHECK(ran.records[1].prompt_tokens == 300);
  CHECK(ran.records[1].pool == PoolId(1u));
}

TEST_CASE("where gates are stated, a pool whose replicas have all stopped takes no more") {
  for (const bool gated : {false, true}) {
    SimulationSpec spec = world(1);
    spec.gated = gated;
    VllmArgs& engine = spec.pools[0].vllm();
    engine.block_size = 4;
    engine.num_gpu_blocks = 1 + 12;
    engine.max_num_seqs = 4;
    spec.stall_preemptions = 1;
    add_list(spec, {arrival(0, 16, 20), arrival(0, 16, 20), arrival(9, 16, 20)});
    const Ran ran = run(std::move(spec));
    REQUIRE(ran.records.size() == 3);
    REQUIRE(ran.report.replicas[0].stalled);
    CHECK(ran.records[2].reason == (gated ? Reason::kReplicasStalled : Reason::kNone));
  }
}
