// SPDX-License-Identifier: Apache-2.0
#include "scenarios/resolve.h"

#include <catch2/catch.hpp>

#include "scenarios/build.h"
#include "scenarios/engines/engine_kind.h"
#include "tests/support/scenario_text.h"
#include "tests/support/temporary_folder.h"
#include "tests/units/scenarios/full_scenarios.h"
#include "tests/units/scenarios/same_scenario.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

void check_round_trip(const std::string& text) {
  const Scenario first = loaded(text);
  const std::string resolved = resolved_yaml(first);
  CAPTURE(resolved);
  const Scenario second = loaded(resolved);
  CHECK(resolved_yaml(second) == resolved);
  check_same_scenario(first, second);
  check_same(build(first).spec, build(second).spec);
}

}  // namespace

TEST_CASE("the resolved scenario gives the same simulation") { check_round_trip(sound_scenario()); }

TEST_CASE("the resolved scenario gives the same simulation whatever it states") { check_round_trip(kEverything); }

TEST_CASE("the resolved scenario gives the same simulation of a move that states only what it must, and of retries") {
  std::string text = changed("weights: {a: 3, b: 1}", "weights: {a: 3, b: 0}");
  text += "move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}\n";
  const std::string at = "        slow: {}\n";
  text.replace(text.find(at), at.size(),
               "        slow: {retry: {max: 2}}\n      errors: {busy: {reasons: queue_full}}\n");
  check_round_trip(text);
}

TEST_CASE("airunway#139: check tells how many whole sequences a KV cache holds, not what bandwidth alone would serve") {
  const std::string text =
      "version: 1\nworkload: {synth: {requests: 1, arrivals: {rate: 1/s}, prompt_tokens: 9, "
      "output_tokens: 9}}\nmodels: {name: m, shape: llama-3.1-8b, contract: {limits: {context: "
      "8000}}}\npools:\n  name: p\n  accelerator: h100-sxm\n  engine: {kind: vllm, version: "
      "mainline-2026-08-17, args: {num_gpu_blocks_override: 1001}}\n  price: none\n";
  CHECK(resolved_yaml(loaded(text))
            .find("# KV cache: 16000 tokens in blocks of 16: 2.00 sequences of "
                  "8000 tokens at once\n") != std::string::npos);
}

TEST_CASE("the resolved scenario gives the same simulation of every engine, whatever its arguments") {
  check_round_trip(kEngines);
  for (const char* name : {"engines_side_by_side.yaml", "one_pass.yaml", "disaggregated.yaml", "layouts.yaml"}) {
    check_round_trip(read_text_file(std::string(POOLCAST_SOURCE_DIR "/scenarios/examples/") + name));
  }
}

TEST_CASE("no engine argument of the resolved scenario keeps its default, so that each is seen to survive") {
  const Scenario scenario = loaded(kEngines);
  for (const PoolEntry& pool : scenario.pools) {
    const auto defaults = source_catalog().engine_defaults(pool.engine.kind, pool.engine.version, pool.accelerator);
    for (const std::string& name : pool.engine.modelled) {
      CAPTURE(pool.name, name);
      const EngineArgument& argument = *engine_kind(pool.engine.kind)->find(name);
      if (argument.of_version) continue;
      CHECK(argument.text(pool.engine.settings) != argument.text(defaults->settings));
    }
  }
}

TEST_CASE("the resolved scenario gives the same simulation of latent attention") {
  std::string text = changed("shape: llama-3.1-8b", "shape: {base: deepseek-v3, layers: 9}");
  for (int pool = 0; pool < 2; ++pool) {
    const std::string from = pool == 0 ? "layout: {tp: 1}" : "accelerator: mi300x";
    text.replace(text.find(from), from.size(),
                 pool == 0 ? "layout: {tp: 8}" : "accelerator: mi300x\n    layout: {tp: 8}");
  }
  check_round_trip(text);
}

TEST_CASE("the resolved scenario gives the same simulation of a trace") {
  const TemporaryFolder folder;
  write_file(folder.file("t.csv"),
             "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n"
             "2023-11-16 18:15:50.9951690,396,109\r\n2023-11-16 18:15:51.2225670,879,55\r\n");
  std::string text = sound_scenario();
  const std::size_t from = text.find("synth:"), to = text.find("models:");
  text.replace(
      from, to - from,
      "trace: {file: " + folder.file("t.csv") +
          ", rate_scale: 0.3, time_window: [1 s, 1 h], filter: {prompt_tokens: [380, none]}, spread: uniform}\n");
  check_round_trip(text);
}

TEST_CASE("the resolved scenario keeps every parameter of a trace") {
  const TemporaryFolder folder;
  write_file(folder.file("t.csv"), "x\n");
  for (const std::string replay : {"spread: uniform, quantum: 1 s", "replay: sessions"}) {
    std::string text = sound_scenario();
    const std::size_t from = text.find("synth:"), to = text.find("models:");
    text.replace(from, to - from,
                 "trace: {file: " + folder.file("t.csv") + ", " + replay +
                     ", format: burstgpt, time_unit: ms, rate_scale: 2.5, time_window: [10 s, 30 min], filter: "
                     "{prompt_tokens: [1, 4000], output_tokens: [2, 99], model: \"GPT-4: new\"}, limit: 100, "
                     "on_bad_row: skip, block_tokens: 16, reorder: 2 s, file_gap: 1 min}\n");
    const Scenario first = loaded(text);
    check_same_scenario(first, loaded(resolved_yaml(first)));
  }
}

TEST_CASE("the resolved scenario shows its defaults") {
  const std::string text = resolved_yaml(loaded(sound_scenario()));
  for (const char* line :
       {"\n    max_concurrency: none\n", "\n          timeout: none\n", "\n        status: production\n",
        "\n      memory_bandwidth: 3.35 TB/s\n", "\n        gpu_memory_utilization: 0.9\n",
        "\n        memory_efficiency: 0.8\n", "\n    price: {reserved: $2.1/h per device}\n", "\n    price: none\n",
        "\n    b: {policy: round-robin}\n", "\n  until: none\n", "\n      context_limit: 131072\n"}) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("the digest changes with every change that matters, and with none that does not") {
  const std::string base = scenario_digest(loaded(sound_scenario()));
  CHECK(base.size() == 64);
  CHECK(scenario_digest(loaded("# a comment\n" + changed("replicas: 2", "replicas:   2"))) == base);
  CHECK(scenario_digest(loaded(changed("curves: roofline", "curves: {roofline: {memory_efficiency: 80 %}}"))) == base);
  CHECK(scenario_digest(loaded(changed("seed: 7", "seed: 8"))) != base);
  CHECK(scenario_digest(loaded(changed("replicas: 2", "replicas: 3"))) != base);
  CHECK(scenario_digest(loaded(changed("$2.10/h", "$2.11/h"))) != base);
  CHECK(scenario_digest(loaded(changed("rate: 5/s", "rate: 5.000000001/s"))) != base);
}

TEST_CASE("the digest knows a trace by its name and size, not by its folder") {
  const TemporaryFolder first, second;
  const auto digest = [](const std::string& file) {
    std::string text = sound_scenario();
    const std::size_t from = text.find("synth:"), to = text.find("models:");
    return scenario_digest(loaded(text.replace(from, to - from, "trace: " + file + "\n")));
  };
  write_file(first.file("t.csv"), "12345");
  write_file(second.file("t.csv"), "54321");
  write_file(second.file("u.csv"), "12345");
  CHECK(digest(first.file("t.csv")) == digest(second.file("t.csv")));
  CHECK(digest(first.file("t.csv")) != digest(second.file("u.csv")));
  write_file(second.file("t.csv"), "123456");
  CHECK(digest(first.file("t.csv")) != digest(second.file("t.csv")));
}

TEST_CASE("the digest is the SHA-256 of the resolved text without comments") {
  // Computed once by sha256sum over the text of `poolcast check` without its comments. It changes when the format or a
  // default changes: then every recorded digest changes, so look twice.
  CHECK(scenario_digest(loaded(sound_scenario())) ==
        "04d2b1c95b73aa32e3ddf43e42f421cdcbcbef513a42038ee3fac252925755b7");
}
