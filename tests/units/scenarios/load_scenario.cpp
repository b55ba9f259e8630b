// SPDX-License-Identifier: Apache-2.0
#include "scenarios/load.h"

#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const char* const kSynth =
    "synth:\n      requests: 10\n      arrivals: {process: poisson, rate: 5/s}\n"
    "      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}\n      output_tokens: 10";

bool has_note(const Scenario& scenario, const std::string& part) {
  for (const std::string& note : scenario.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("what a scenario leaves out takes its default") {
  const Scenario scenario = loaded(sound_scenario());
  const PoolEntry& b = scenario.pools.at(1);
  CHECK(b.replicas == 1);
  CHECK(b.layout.tp == 1);
  CHECK(b.max_pending_requests == INT64_MAX);
  CHECK(b.engine.vllm().block_size == 16);
  CHECK(b.engine.vllm().enable_chunked_prefill);
  CHECK(b.engine.vllm().policy == VllmArgs::Policy::kFcfs);
  CHECK(b.engine.settings.memory_share == 0.9);
  CHECK_FALSE(b.engine.offline);
  CHECK(std::get<RooflineOptions>(b.curves).weights == Precision::kBf16);
  CHECK(std::get<RooflineOptions>(b.curves).table_tokens == 8192);
  CHECK(scenario.models[0].on_too_long == TooLong::kReject);
  CHECK(scenario.models[0].output_limit == INT64_MAX);
  CHECK(scenario.models[0].classes[1].timeout == kNever);
  CHECK(scenario.routing.pool_policies == std::vector<std::string>{"round-robin", "round-robin"});
  CHECK(scenario.measure.until == kNever);
}

TEST_CASE("what a scenario states is taken") {
  const Scenario scenario = loaded(sound_scenario());
  CHECK(scenario.seed == 7);
  CHECK(scenario.pools[0].replicas == 2);
  CHECK(scenario.pools[0].price_per_device->value == 2.1);
  CHECK_FALSE(scenario.pools[1].price_per_device.has_value());
  CHECK(std::get<RooflineOptions>(scenario.pools[0].curves).weights == Precision::kFp8);
  CHECK(scenario.models[0].context_limit == 8192);
  CHECK(scenario.models[0].classes[0].objectives.at(0).limit == 2 * kNanosPerSecond);
  CHECK(scenario.routing.gateway_weights == std::vector<double>{3, 1});
  CHECK(scenario.measure.warm_up == kNanosPerSecond);
  const SynthSpec& synth = std::get<SynthSpec>(scenario.workload[0].load);
  CHECK(synth.requests == 10);
  CHECK(synth.output_tokens.kind == LengthSpec::Kind::kFixed);
  CHECK(synth.output_tokens.mean == 10);
}

TEST_CASE("a single mapping stands for a list of one in every section") {
  const Scenario scenario = loaded(
      "version: 1\n"
      "workload: {closed_loop: {users: 2, requests: 4, prompt_tokens: 5, output_tokens: 5}}\n"
      "models: {name: m, shape: llama-3.1-8b, implementations: {pool: p}}\n"
      "pools: {name: p, accelerator: h100-sxm, price: none, engine: {kind: vllm, version: \"0.19\", "
      "args: {max_num_seqs: 8, max_num_batched_tokens: 512}}}\n");
  CHECK(scenario.workload.at(0).model == "m");
  CHECK(scenario.workload.at(0).cls == "default");
  CHECK(scenario.pools.size() == 1);
}

TEST_CASE("an engine version that is not quoted is read as it is written") {
  const Scenario scenario = loaded(changed("version: \"0.19\", args", "version: 0.19, args"));
  CHECK(scenario.pools[0].engine.version == "0.19");
}

TEST_CASE("an engine argument may have dashes or underscores") {
  const Scenario scenario =
      loaded(changed("{max_num_seqs: 64,", "{max-num-seqs: 32, scheduling-policy: priority, block-size: 32,"));
  CHECK(scenario.pools[0].engine.vllm().max_num_seqs == 32);
  CHECK(scenario.pools[0].engine.vllm().policy == VllmArgs::Policy::kPriority);
  CHECK(scenario.pools[0].engine.vllm().block_size == 32);
}

TEST_CASE("an engine argument without effect is accepted and told") {
  const Scenario scenario =
      loaded(changed("{max_num_seqs: 64,", "{max_num_seqs: 64, seed: 1, enable_prefix_caching: false,"));
  CHECK(has_note(scenario, "pool a: engine arguments without effect here: seed"));
}

TEST_CASE("KV blocks come from memory arithmetic unless the file states them") {
  const Scenario computed = loaded(sound_scenario());
  REQUIRE(computed.pools[0].kv_memory.has_value());
  CHECK(computed.pools[0].engine.vllm().num_gpu_blocks == computed.pools[0].kv_memory->num_gpu_blocks);
  CHECK(computed.pools[0].engine.vllm().num_gpu_blocks > 20'000);
  const Scenario stated = loaded(changed("{max_num_seqs: 64,", "{max_num_seqs: 64, num_gpu_blocks_override: 2588,"));
  CHECK(stated.pools[0].engine.vllm().num_gpu_blocks == 2588);
}

TEST_CASE("narrower KV leaves room for more blocks") {
  const auto blocks = [](const std::string& dtype) {
    return loaded(changed("{max_num_seqs: 64,", "{max_num_seqs: 64, kv_cache_dtype: " + dtype + ","))
        .pools[0]
        .engine.vllm()
        .num_gpu_blocks;
  };
  CHECK(blocks("fp8") == Approx(2.0 * static_cast<double>(blocks("auto"))).margin(1));
}

TEST_CASE("a KV cache smaller than the longest request is told") {
  const Scenario scenario = loaded(changed("{max_num_seqs: 64,", "{max_num_seqs: 64, num_gpu_blocks_override: 101,"));
  CHECK(has_note(scenario, "pool a: its KV cache holds 1600 tokens, fewer than max_model_len 8192"));
}

TEST_CASE("max_model_len is the model's limit, or the contract's where that is lower") {
  CHECK(loaded(sound_scenario()).pools[0].engine.vllm().max_model_len == 8192);
  CHECK(loaded(changed("limits: {context: 8192}", "on_too_long: reject")).pools[0].engine.vllm().max_model_len ==
        131072);
  CHECK(loaded(changed("{pool: b}", "{pool: b, limits: {context: 4096}}")).pools[1].engine.vllm().max_model_len ==
        4096);
}

TEST_CASE("a model needs no shape where nothing is computed from it") {
  std::string text = changed("    shape: llama-3.1-8b\n", "");
  for (int pool = 0; pool < 2; ++pool) {
    const std::string from = "max_num_batched_tokens: 8192}}";
    text.replace(text.find(from), from.size(),
                 "max_num_batched_tokens: 8192, num_gpu_blocks_override: 9999}}\n    # \n" +
                     std::string(pool == 1 ? "    curves: {step_fit: {base: 5 ms}}" : ""));
  }
  text.replace(text.find("curves: roofline"), 16, "curves: {step_fit: {base: 5 ms, range: {batch: 9}}}");
  const Scenario scenario = loaded(text);
  CHECK(std::get<StepFit>(scenario.pools[0].curves).max_decode_requests == 9);
  CHECK(scenario.pools[1].engine.vllm().num_gpu_blocks == 9999);
  CHECK_FALSE(scenario.pools[0].kv_memory.has_value());
}

TEST_CASE("a price may be a list price, in any case, or per replica") {
  CHECK(loaded(changed("{reserved: $2.10/h per device}", "{list: aws/P5.48xlarge}")).pools[0].price_per_device->value ==
        Approx(6.88));
  std::string text = changed("{reserved: $2.10/h per device}", "{reserved: $16/h per replica}");
  text.replace(text.find("layout: {tp: 1}"), 15, "layout: {tp: 8}");
  CHECK(loaded(text).pools[0].price_per_device->value == 2);
}

TEST_CASE("a trace is looked for beside the scenario, then in the working folder") {
  const TemporaryFolder folder;
  write_file(folder.file("t.csv"), "x\n");
  write_file(folder.file("s.yaml"), changed(kSynth, "trace: t.csv"));
  const Scenario scenario = load_scenario(folder.file("s.yaml"), source_catalog());
  CHECK(std::get<TraceSpec>(scenario.workload[0].load).file == folder.file("t.csv"));
}

TEST_CASE("every parameter of a trace is read") {
  const TemporaryFolder folder;
  write_file(folder.file("t.csv"), "x\n");
  const Scenario scenario = loaded(
      changed(kSynth, "trace: {file: " + folder.file("t.csv") +
                          ", format: burstgpt, time_unit: ms, rate_scale: 2.5, time_window: [10 s, 30 min], "
                          "filter: {prompt_tokens: [1, 4000], output_tokens: [2, none], model: GPT-4}, limit: 100, "
                          "on_bad_row: skip, spread: uniform, replay: timestamps, block_tokens: 16, quantum: 1 s, "
                          "reorder: 2 s, file_gap: 1 min}"));
  const TraceSpec& trace = std::get<TraceSpec>(scenario.workload[0].load);
  CHECK(trace.format == TraceFormat::kBurstGpt);
  CHECK(trace.time_unit->value == 1e-3);
  CHECK(trace.rate_scale == 2.5);
  CHECK(trace.window_begin.value == 10);
  CHECK(trace.window_end.value == 1800);
  CHECK(trace.min_prompt_tokens == 1);
  CHECK(trace.max_prompt_tokens == 4000);
  CHECK(trace.min_output_tokens == 2);
  CHECK(trace.max_output_tokens == INT64_MAX);
  CHECK(trace.model == "GPT-4");
  CHECK(trace.limit == 100);
  CHECK(trace.on_bad_row == TraceSpec::BadRow::kSkip);
  CHECK(trace.spread == TraceSpec::Spread::kUniform);
  const Scenario sessions = loaded(changed(kSynth, "trace: {file: " + folder.file("t.csv") + ", replay: sessions}"));
  CHECK(std::get<TraceSpec>(sessions.workload[0].load).replay == TraceSpec::Replay::kSessions);
  CHECK(trace.block_tokens == 16);
  CHECK(trace.quantum->value == 1);
  CHECK(trace.reorder.value == 2);
  CHECK(trace.file_gap.value == 60);
}

TEST_CASE("a memory of its own makes a catalog accelerator another device, of which no driver reported anything") {
  const auto pool = [](const std::string& accelerator, std::vector<std::string> overrides = {}) {
    return loaded(changed("accelerator: h100-sxm", "accelerator: " + accelerator), overrides);
  };
  const Bytes reported = *pool("h100-sxm").pools[0].accelerator.addressable_memory.value;
  const Scenario same = pool("h100-sxm", {"pools[0].accelerator.memory=80 GB"});
  CHECK(same.pools[0].accelerator.require_memory() == reported);
  CHECK_FALSE(has_note(same, "are not used"));
  const Scenario other = pool("h100-sxm", {"pools[0].accelerator.memory=96 GB"});
  CHECK(other.pools[0].accelerator.require_memory() == Bytes(96e9));
  CHECK(has_note(other, "h100-sxm: memory 96 GB as stated; the 80 GiB that a driver reports of the catalog's device"));
  const Scenario both = pool("{base: h100-sxm, memory: 96 GB, addressable_memory: 94 GB}");
  CHECK(both.pools[0].accelerator.require_memory() == Bytes(94e9));
}

TEST_CASE("an empirical distribution may stand in a file") {
  const TemporaryFolder folder;
  write_file(folder.file("lengths.csv"), "tokens,weight\n# comment\n100,3\r\n200,1\n100,2\n300\n");
  const Scenario scenario = loaded(changed("{distribution: lognormal, mean: 100, cv: 0.5}",
                                           "{distribution: empirical, file: " + folder.file("lengths.csv") + "}"));
  const LengthSpec& prompt = std::get<SynthSpec>(scenario.workload[0].load).prompt_tokens;
  CHECK(prompt.table == std::vector<std::pair<std::int64_t, double>>{{100, 5}, {200, 1}, {300, 1}});
  write_file(folder.file("lengths.csv"), "100,3\n200,-1\n");
  CHECK(fault(R"({distribution: lognormal, mean: 100, cv: 0.5})",
              "{distribution: empirical, file: " + folder.file("lengths.csv") + "}") ==
        folder.file("lengths.csv") + ":2: expected tokens or tokens,weight, got \"200,-1\"");
}

TEST_CASE("a policy may be given for both levels, for one, and for one pool") {
  const auto policies = [](const std::string& routing) {
    const Scenario scenario =
        loaded(changed("routing:\n  gateway: {policy: weighted, weights: {a: 3, b: 1}}", routing));
    return scenario.routing.gateway_policy + " " + scenario.routing.pool_policies[0] + " " +
           scenario.routing.pool_policies[1];
  };
  CHECK(policies("routing: {policy: random}") == "random random random");
  CHECK(policies("routing: {policy: random, pool: {policy: least-request}}") == "random least-request least-request");
  CHECK(policies("routing: {gateway: {policy: power-of-two}, pools: {b: {policy: random}}}") ==
        "power-of-two round-robin random");
  CHECK(policies("") == "round-robin round-robin round-robin");
  CHECK(policies("routing: {policy: round_robin, pool: {policy: least-loaded}}") ==
        "round-robin least-request least-request");
}

TEST_CASE("the warm-up is a time, a count, or the begin of a window") {
  const auto measure = [](const std::string& text) { return loaded(changed("{warm_up: 1 s}", text)).measure; };
  CHECK(measure("{warm_up: {requests: 100}}").warm_up_requests == 100);
  CHECK(measure("{warm_up: {time: 5 s, requests: 100}}").warm_up == 5 * kNanosPerSecond);
  CHECK(measure("{window: [10 s, 20 s]}").warm_up == 10 * kNanosPerSecond);
  CHECK(measure("{window: [10 s, 20 s]}").until == 20 * kNanosPerSecond);
  CHECK(measure("{window: [10 s, none]}").until == kNever);
}

TEST_CASE("the scenario in scenarios/scenario_file.md loads") {
  const TemporaryFolder folder;
  write_file(folder.file("t.csv"), "x\n");
  const std::string text = read_file(POOLCAST_SOURCE_DIR "/scenarios/scenario_file.md");
  const std::size_t begin = text.find("```yaml\n") + 8, end = text.find("```", begin);
  const std::string file = folder.file("s.yaml");
  write_file(file, text.substr(begin, end - begin));
  const Scenario scenario = load_scenario(file, source_catalog());
  CHECK(scenario.models.at(0).classes.at(0).objectives.size() == 2);
  CHECK(scenario.pools.at(0).layout.tp == 8);
}
