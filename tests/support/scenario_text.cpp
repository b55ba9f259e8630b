// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scenario_text.h"

#include <cstdlib>
#include <iostream>

#include "scenarios/build.h"
#include "scenarios/load.h"

namespace poolcast::testing {

const std::string& sound_scenario() {
  static const std::string kText = R"(version: 1
seed: 7
workload:
  - model: chat
    class: fast
    synth:
      requests: 10
      arrivals: {process: poisson, rate: 5/s}
      prompt_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
      output_tokens: 10
models:
  - name: chat
    shape: llama-3.1-8b
    contract:
      limits: {context: 8192}
      classes:
        fast: {objectives: {ttft: {p99: 2 s}}}
        slow: {}
    implementations:
      - {pool: a, precision: fp8}
      - {pool: b}
pools:
  - name: a
    accelerator: h100-sxm
    layout: {tp: 1}
    replicas: 2
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves: roofline
    price: {reserved: $2.10/h per device}
  - name: b
    accelerator: mi300x
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    price: none
routing:
  gateway: {policy: weighted, weights: {a: 3, b: 1}}
measure: {warm_up: 1 s}
)";
  return kText;
}

const Catalog& source_catalog() {
  static const Catalog kCatalog = Catalog::load(POOLCAST_SOURCE_DIR "/scenarios/catalog");
  return kCatalog;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = sound_scenario();
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    std::cerr << "the sound scenario does not hold: " << from << "\n";
    std::abort();
  }
  return text.replace(at, from.size(), to);
}

Scenario loaded(const std::string& text, const std::vector<std::string>& overrides) {
  return load_scenario_text("s.yaml", text, source_catalog(), overrides);
}

std::string fault_of(const std::string& text, const std::vector<std::string>& overrides) {
  try {
    build(loaded(text, overrides));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string fault(const std::string& from, const std::string& to) { return fault_of(changed(from, to)); }

}  // namespace poolcast::testing
