// SPDX-License-Identifier: Apache-2.0
// Public reports about pipelines.
#include <catch2/catch.hpp>

#include "sim/simulation.h"
#include "sim/workload.h"
#include "tests/support/worlds.h"
#include "tests/units/models/shapes.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// A 70B model on four devices, as one pipeline or cut by tensor parallelism.
Report run(std::int64_t pp, std::int64_t users) {
  RooflineOptions options;
  options.micro_batch_tokens = 2048;
  SimulationSpec spec =
      one_pool(make_roofline(test::machine(989e12, 3.35e12, 450e9), test::llama_70b(), {4 / pp, pp}, options));
  spec.pools[0].vllm().max_num_batched_tokens = 2048 * pp;
  ClosedLoopSpec loop;
  loop.users = users;
  loop.requests = static_cast<std::uint64_t>(10 * users);
  loop.prompt_tokens = {LengthSpec::Kind::kFixed, 500, 0, 1, 500, {}};
  loop.output_tokens = {LengthSpec::Kind::kUniform, 100, 0, 50, 150, {}};
  spec.sources.push_back({make_source(loop, ClassId(0u), 0, 1, "w")});
  return simulate(std::move(spec));
}

double bubble(const Report& report) {
  const ReplicaReport& r = report.replicas[0];
  return 1 - static_cast<double>(r.stage_work) / static_cast<double>(r.busy);
}

double per_second(const Report& report) {
  return static_cast<double>(report.total().outcomes.output_tokens) / to_seconds(report.end).value;
}

}  // namespace

TEST_CASE("pipeline bubble: one user leaves three of four stages idle, and requests enough to take turns fill them") {
  const double alone = bubble(run(4, 1)), four = bubble(run(4, 4)), many = bubble(run(4, 64));
  CHECK(alone == Approx(0.75).margin(0.01));
  CHECK(four < 0.25);
  CHECK(many < alone / 3);
  // Micro-batches with a prompt make the round of all others longer, so the bubble does not go away.
  CHECK(many > 0.03);
  // A lone user gains nothing from a pipeline, and much from four devices that share each layer.
  CHECK(per_second(run(1, 1)) > 3 * per_second(run(4, 1)));
  CHECK(per_second(run(4, 4)) > 3 * per_second(run(4, 1)));
}
