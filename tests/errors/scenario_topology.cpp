// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using namespace poolcast::testing;

namespace {

/// The sound scenario with prefill on `a` and decode on `b`, and a topology that is this line.
std::string apart(const std::string& topology, const std::string& role = "decode") {
  std::string text = changed("    accelerator: h100-sxm\n", "    accelerator: h100-sxm\n    role: prefill\n");
  const std::string b = "    accelerator: mi300x\n";
  text.replace(text.find(b), b.size(), b + "    role: " + role + "\n");
  const std::string weights = "  gateway: {policy: weighted, weights: {a: 3, b: 1}}\n";
  text.replace(text.find(weights), weights.size(), "  policy: round-robin\n");
  return text + topology;
}

const std::string kLink = "topology: {links: {between: [a, b], bandwidth: 50 GB/s, latency: 5 us}}\n";

}  // namespace

TEST_CASE("prefill and decode with a link between them are no error") { CHECK(fault_of(apart(kLink)) == "no error"); }

TEST_CASE("a pool that prefills needs one that decodes the same model") {
  CHECK(fault_of(apart(kLink, "both")) ==
        R"(s.yaml:25:11: pools[0].role: no pool of model "chat" has the role decode
    role: prefill
          ^)");
}

TEST_CASE("two halves without a way between them are an error that says what to write") {
  CHECK(fault_of(apart("topology: {switches: [s], links: {between: [a, s], bandwidth: 1 GB/s}}\n")) ==
        R"(s.yaml:25:11: pools[0].role: no links lead from "a" to "b"
    role: prefill
          ^ topology: {links: [{between: [A, B], bandwidth: 50 GB/s, latency: 5 us}]}, with pools and switches for A and B)");
}

TEST_CASE("an end of a link that is neither a pool nor a switch is an error") {
  CHECK(fault_of(apart("topology: {switches: [spine], links: {between: [a, spin], bandwidth: 1 GB/s}}\n")) ==
        R"(s.yaml:39:52: topology.links[0].between[1]: no pool and no switch is named "spin"
topology: {switches: [spine], links: {between: [a, spin], bandwidth: 1 GB/s}}
                                                   ^ did you mean "spine"?)");
}

TEST_CASE("a link to itself, without bandwidth, or a switch with a pool's name is an error") {
  CHECK(fault_of(apart("topology: {links: {between: [a, a], bandwidth: 1 GB/s}}\n"))
            .find("a link needs two different ends") != std::string::npos);
  CHECK(fault_of(apart("topology: {links: {between: [a, b], bandwidth: 0 GB/s}}\n")).find("must be above 0") !=
        std::string::npos);
  CHECK(fault_of(apart("topology: {links: {between: [a, b]}}\n")).find("missing key \"bandwidth\"") !=
        std::string::npos);
  CHECK(fault_of(apart("topology: {switches: [a], links: {between: [a, b], bandwidth: 1 GB/s}}\n")).find("is taken") !=
        std::string::npos);
}

TEST_CASE("an engine kind that cannot hand prompts over says so") {
  std::string text = apart(kLink);
  const std::string engine =
      R"(engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}})";
  text.replace(text.find(engine), engine.size(), "engine: {kind: sglang, version: mainline-2026-07-20}");
  CHECK(fault_of(text).find("pools[0].role: prefill and decode apart is not modelled yet for the engine kind sglang") !=
        std::string::npos);
}

TEST_CASE("halves whose KV differs, models without decode, and weights of one half only are errors") {
  std::string text = apart(kLink);
  const std::string b = "{pool: b}";
  text.replace(text.find(b), b.size(), "{pool: b, kv_precision: fp8}");
  CHECK(fault_of(text).find("its KV is fp8 and that of \"a\" is bf16") != std::string::npos);
  text = apart(kLink);
  text.insert(text.find("    shape:"), "    task: embed\n");
  CHECK(fault_of(text).find("only models that generate text") != std::string::npos);
  CHECK(fault_of(apart(kLink), {"routing={gateway: {policy: weighted, weights: {b: 1}}}"})
            .find("every weight is zero among the pools that prefill") != std::string::npos);
}

TEST_CASE("KV that moves needs the shape of its model") {
  std::string text = apart(kLink);
  const std::string shape = "    shape: llama-3.1-8b\n";
  text.erase(text.find(shape), shape.size());
  CHECK(fault_of(text) != "no error");
}
