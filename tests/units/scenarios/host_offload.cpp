// SPDX-License-Identifier: Apache-2.0
// KV on the host, from the scenario to the hit rate.
#include <catch2/catch.hpp>

#include "scenarios/build.h"
#include "sim/simulation.h"
#include "tests/support/data.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::string scenario(const std::string& trace, const std::string& args, const std::string& rest) {
  return "version: 1\nworkload: {trace: {file: \"" + trace +
         "\", time_unit: 1 ms, rate_scale: 0.5}}\nmodels: {name: m, shape: llama-3.1-8b, contract: {limits: {context: "
         "131072}}}\npools:\n"
         "  name: p\n  accelerator: h100-sxm\n  replicas: 4\n  engine: {kind: vllm, version: \"0.19\", args: "
         "{max_num_seqs: 256, "
         "max_num_batched_tokens: 8192" +
         args + "}}\n  price: none\n" + rest;
}

}  // namespace

TEST_CASE("what the host holds follows from its size and the shape, and what moves from the shape") {
  const BuiltScenario built = build(loaded(changed(
      R"(args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
      R"(args: {max_num_seqs: 64, max_num_batched_tokens: 8192, kv_offloading_size: 64}}
    host_bandwidth: 40 GB/s
    curves)")));
  const PoolSpec& pool = built.spec.pools[0];
  const VllmArgs& args = std::get<VllmArgs>(pool.engine);
  CHECK(pool.host_bandwidth.value == 40e9);
  CHECK(pool.kv_bytes_per_token > 0);
  CHECK(args.host_blocks == static_cast<std::int64_t>(64.0 * 1024 * 1024 * 1024 / (16 * pool.kv_bytes_per_token)));
}

TEST_CASE("on the Mooncake trace KV on the hosts raises the hit rate of a small cache", "[data]") {
  POOLCAST_NEED_DATA(path, "traces/mooncake_synthetic_trace.jsonl");
  const auto run = [&path](const std::string& args, const std::string& rest) {
    return simulate(build(loaded(scenario(*path, ", num_gpu_blocks_override: 16384" + args, rest))).spec);
  };
  const auto hits = [](const Report& report) {
    std::int64_t found = 0;
    for (const ReplicaReport& r : report.replicas) {
      found += r.prefix.hits + r.prefix.host_hits - r.prefix.resumed_hits;
    }
    return static_cast<double>(found) / static_cast<double>(report.prefix_tokens);
  };
  const Report device = run("", "");
  const Report host = run(", kv_offloading_size: 200", "  host_bandwidth: 50 GB/s\n");
  const double ideal = static_cast<double>(host.ideal_prefix_hits) / static_cast<double>(host.prefix_tokens);
  CAPTURE(hits(device), hits(host), ideal);
  CHECK(device.host_loads == 0);
  CHECK(host.host_loads > 100);
  CHECK(hits(host) > hits(device) + 0.05);
  CHECK(hits(host) < ideal);
}
