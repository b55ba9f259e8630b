// SPDX-License-Identifier: Apache-2.0
#include "tests/units/scenarios/same_scenario.h"

#include <catch2/catch.hpp>

#include "scenarios/resolve.h"

namespace poolcast::testing {
namespace {

void check_same(const StepCurve& a, const StepCurve& b) {
  const std::vector<PrefillChunk> chunks = {{512, 0}, {64, 4096}};
  for (std::int64_t decodes : {0, 1, 7, 300}) {
    StepShape shape;
    shape.prefill = chunks;
    shape.decode_requests = decodes;
    shape.decode_context = decodes * 1234;
    shape.tokens = 576 + decodes;
    shape.sampled = decodes + 1;
    CHECK(a.step(shape).value == b.step(shape).value);
    CHECK(a.in_range(shape) == b.in_range(shape));
  }
}

void check_same(const PoolSpec& a, const PoolSpec& b) {
  CHECK(a.name == b.name);
  CHECK(a.replicas == b.replicas);
  CHECK(a.ranks == b.ranks);
  CHECK(a.balancer.name == b.balancer.name);
  CHECK(a.role == b.role);
  CHECK(a.node == b.node);
  CHECK(a.kv_bytes_per_token == b.kv_bytes_per_token);
  CHECK(a.devices_per_replica == b.devices_per_replica);
  CHECK(a.max_pending_requests == b.max_pending_requests);
  CHECK(a.price_per_replica.value == b.price_per_replica.value);
  CHECK((a.engine == b.engine));
  check_same(*a.curve, *b.curve);
}

void check_same(const ClassSpec& a, const ClassSpec& b) {
  CHECK(a.name == b.name);
  CHECK(a.model == b.model);
  CHECK(a.priority == b.priority);
  CHECK(a.timeout == b.timeout);
  CHECK(a.patience == b.patience);
  CHECK(a.availability == b.availability);
  CHECK(a.batch == b.batch);
  CHECK(a.barred == b.barred);
  CHECK((a.retry == b.retry));
  REQUIRE(a.objectives.size() == b.objectives.size());
  for (std::size_t i = 0; i < a.objectives.size(); ++i) {
    CHECK(a.objectives[i].metric == b.objectives[i].metric);
    CHECK(a.objectives[i].percentile == b.objectives[i].percentile);
    CHECK(a.objectives[i].limit == b.objectives[i].limit);
  }
}

void check_same(const ModelSpec& a, const ModelSpec& b) {
  CHECK(a.name == b.name);
  CHECK(a.context_limit == b.context_limit);
  CHECK(a.output_limit == b.output_limit);
  CHECK(a.input_limit == b.input_limit);
  CHECK(a.streaming == b.streaming);
  CHECK(a.cancellation == b.cancellation);
  CHECK(a.compatibility == b.compatibility);
  CHECK(a.on_too_long == b.on_too_long);
  REQUIRE(a.implementations.size() == b.implementations.size());
  for (std::size_t i = 0; i < a.implementations.size(); ++i) {
    CHECK(a.implementations[i].pool == b.implementations[i].pool);
    CHECK(a.implementations[i].context_limit == b.implementations[i].context_limit);
    CHECK(a.implementations[i].input_limit == b.implementations[i].input_limit);
    CHECK(a.implementations[i].output_limit == b.implementations[i].output_limit);
    CHECK(a.implementations[i].shapes == b.implementations[i].shapes);
    CHECK(a.implementations[i].status == b.implementations[i].status);
    CHECK(a.implementations[i].streams == b.implementations[i].streams);
    CHECK(a.implementations[i].cancels == b.implementations[i].cancels);
    CHECK(a.implementations[i].evaluation == b.implementations[i].evaluation);
    CHECK(a.implementations[i].economics == b.implementations[i].economics);
  }
}

/// Two sources that bring the same requests, as far as they come without answers.
void check_same(Source& a, Source& b) {
  for (int i = 0; i < 50 && a.peek() != kNever; ++i) {
    REQUIRE(a.peek() == b.peek());
    const Arrival left = a.pop(), right = b.pop();
    CHECK(left.intended == right.intended);
    CHECK(left.cls == right.cls);
    CHECK(left.prompt_tokens == right.prompt_tokens);
    CHECK(left.output_tokens == right.output_tokens);
    CHECK(left.priority == right.priority);
    CHECK(left.session == right.session);
    CHECK(left.content.prompt.size() == right.content.prompt.size());
    CHECK(left.content.output == right.content.output);
  }
  CHECK(a.peek() == b.peek());
}

/// What the gates judge, and what is only recorded.
void check_same_evidence(const LogicalModel& a, const LogicalModel& b) {
  CHECK(a.suite == b.suite);
  CHECK(a.threshold == b.threshold);
  CHECK(a.confidence == b.confidence);
  CHECK(a.version == b.version);
  CHECK(a.contract.schema == b.contract.schema);
  CHECK(a.contract.streaming == b.contract.streaming);
  CHECK(a.contract.cancellation == b.contract.cancellation);
  CHECK(a.contract.metadata == b.contract.metadata);
  CHECK(a.contract.compatibility_pool == b.contract.compatibility_pool);
  REQUIRE(a.contract.errors.size() == b.contract.errors.size());
  for (std::size_t i = 0; i < a.contract.errors.size(); ++i) {
    CHECK(a.contract.errors[i].name == b.contract.errors[i].name);
    CHECK(a.contract.errors[i].reasons == b.contract.errors[i].reasons);
    CHECK(a.contract.errors[i].retry == b.contract.errors[i].retry);
  }
  REQUIRE(a.contract.cost.has_value() == b.contract.cost.has_value());
  if (a.contract.cost) {
    CHECK(a.contract.cost->prompt_tokens == b.contract.cost->prompt_tokens);
    CHECK(a.contract.cost->output_tokens == b.contract.cost->output_tokens);
    CHECK(a.contract.cost->batch == b.contract.cost->batch);
    CHECK(a.contract.cost->margin == b.contract.cost->margin);
    CHECK(a.contract.cost->incumbent == b.contract.cost->incumbent);
    CHECK(a.contract.cost->per_million_tokens == b.contract.cost->per_million_tokens);
  }
  REQUIRE(a.implementations.size() == b.implementations.size());
  for (std::size_t i = 0; i < a.implementations.size(); ++i) {
    const ImplementationEntry& left = a.implementations[i];
    const ImplementationEntry& right = b.implementations[i];
    CHECK(left.artifact == right.artifact);
    CHECK(left.status == right.status);
    CHECK(left.evaluations == right.evaluations);
    CHECK(left.calibration == right.calibration);
    CHECK(left.software == right.software);
    CHECK(left.history == right.history);
  }
}

bool same(const ThinkSpec& a, const ThinkSpec& b) { return a.kind == b.kind && a.mean == b.mean && a.cv == b.cv; }

void check_same(const TraceSpec& a, const TraceSpec& b) {
  CHECK(a.file == b.file);
  CHECK(a.format == b.format);
  CHECK(a.time_unit == b.time_unit);
  CHECK(a.rate_scale == b.rate_scale);
  CHECK(a.window_begin == b.window_begin);
  CHECK(a.window_end == b.window_end);
  CHECK(a.min_prompt_tokens == b.min_prompt_tokens);
  CHECK(a.max_prompt_tokens == b.max_prompt_tokens);
  CHECK(a.min_output_tokens == b.min_output_tokens);
  CHECK(a.max_output_tokens == b.max_output_tokens);
  CHECK(a.model == b.model);
  CHECK(a.limit == b.limit);
  CHECK(a.on_bad_row == b.on_bad_row);
  CHECK(a.spread == b.spread);
  CHECK(a.replay == b.replay);
  CHECK(a.block_tokens == b.block_tokens);
  CHECK(a.quantum == b.quantum);
  CHECK(a.reorder == b.reorder);
  CHECK(a.file_gap == b.file_gap);
}

void check_same(const SynthSpec& a, const SynthSpec& b) {
  CHECK(a.requests == b.requests);
  CHECK(a.duration == b.duration);
}

void check_same(const ClosedLoopSpec& a, const ClosedLoopSpec& b) {
  CHECK(a.requests == b.requests);
  CHECK(a.duration == b.duration);
  CHECK(a.ramp == b.ramp);
  CHECK(same(a.think_time, b.think_time));
}

void check_same(const SessionsSpec& a, const SessionsSpec& b) {
  CHECK(a.sessions == b.sessions);
  CHECK(a.duration == b.duration);
  CHECK(a.max_context == b.max_context);
  CHECK(same(a.think_time, b.think_time));
}

/// What the first requests of a source cannot show.
void check_same_load(const WorkloadEntry& a, const WorkloadEntry& b) {
  REQUIRE(a.load.index() == b.load.index());
  std::visit([&](const auto& left) { check_same(left, std::get<std::decay_t<decltype(left)>>(b.load)); }, a.load);
}

void check_same_range(const PoolEntry& a, const PoolEntry& b) {
  const auto* const left = std::get_if<StepFit>(&a.curves);
  if (left == nullptr) return;
  const StepFit& right = std::get<StepFit>(b.curves);
  CHECK(left->max_tokens == right.max_tokens);
  CHECK(left->max_decode_requests == right.max_decode_requests);
  CHECK(left->max_decode_context == right.max_decode_context);
  CHECK(left->max_prefill_context == right.max_prefill_context);
  CHECK(left->source == right.source);
}

}  // namespace

void check_same(const SimulationSpec& a, const SimulationSpec& b) {
  CHECK(a.seed == b.seed);
  CHECK(a.routing.gateway.name == b.routing.gateway.name);
  CHECK((a.routing.rules == b.routing.rules));
  CHECK(a.routing.gateway.weights == b.routing.gateway.weights);
  CHECK(a.measure.warm_up == b.measure.warm_up);
  CHECK(a.measure.warm_up_requests == b.measure.warm_up_requests);
  CHECK(a.measure.until == b.measure.until);
  CHECK(a.topology.nodes() == b.topology.nodes());
  REQUIRE(a.topology.links().size() == b.topology.links().size());
  for (std::size_t i = 0; i < a.topology.links().size(); ++i) {
    CHECK(a.topology.links()[i].a == b.topology.links()[i].a);
    CHECK(a.topology.links()[i].b == b.topology.links()[i].b);
    CHECK(a.topology.links()[i].bandwidth.value == b.topology.links()[i].bandwidth.value);
    CHECK(a.topology.links()[i].latency.value == b.topology.links()[i].latency.value);
  }
  REQUIRE(a.pools.size() == b.pools.size());
  REQUIRE(a.routing.pool.size() == b.routing.pool.size());
  for (std::size_t i = 0; i < a.pools.size(); ++i) {
    check_same(a.pools[i], b.pools[i]);
    CHECK(a.routing.pool[i].name == b.routing.pool[i].name);
  }
  REQUIRE(a.models.size() == b.models.size());
  for (std::size_t i = 0; i < a.models.size(); ++i) check_same(a.models[i], b.models[i]);
  REQUIRE(a.classes.size() == b.classes.size());
  for (std::size_t i = 0; i < a.classes.size(); ++i) check_same(a.classes[i], b.classes[i]);
  REQUIRE(a.sources.size() == b.sources.size());
  for (std::size_t i = 0; i < a.sources.size(); ++i) {
    CHECK(a.sources[i].max_concurrency == b.sources[i].max_concurrency);
    check_same(*a.sources[i].source, *b.sources[i].source);
  }
}

void check_same_scenario(const Scenario& first, const Scenario& second) {
  CHECK(scenario_digest(second) == scenario_digest(first));
  for (std::size_t w = 0; w < first.workload.size(); ++w) check_same_load(first.workload[w], second.workload[w]);
  for (std::size_t m = 0; m < first.models.size(); ++m) check_same_evidence(first.models[m], second.models[m]);
  for (std::size_t p = 0; p < first.pools.size(); ++p) check_same_range(first.pools[p], second.pools[p]);
}

}  // namespace poolcast::testing
