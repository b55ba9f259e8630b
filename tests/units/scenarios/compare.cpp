// SPDX-License-Identifier: Apache-2.0
#include "scenarios/compare.h"

#include <catch2/catch.hpp>

#include "scenarios/compare_text.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// One pool whose steps take `scale` times as long as they should.
std::string scaled(double scale, const std::string& load = "") {
  const auto us = [&](double x) { return std::to_string(x * scale) + " us"; };
  return R"(version: 1
seed: 3
workload:
  class: chat
)" +
         (load.empty() ? R"(  synth:
    requests: 6000
    arrivals: {process: poisson, rate: 2/s}
    prompt_tokens: {distribution: lognormal, mean: 800, cv: 0.8, max: 9000}
    output_tokens: {distribution: lognormal, mean: 60, cv: 0.5, max: 400}
)"
                       : load) +
         R"(models:
  name: m
  shape: llama-3.1-8b
  contract: {classes: {chat: {objectives: {ttft: {p99: 2 s}}}, other: {}}}
pools:
  name: p
  accelerator: h100-sxm
  engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
  price: {reserved: $2/h}
  curves: {step_fit: {base: )" +
         us(8000) + ", per_token: " + us(25) + ", per_request: " + us(40) + ", per_context_token: " + us(0.01) + "}}\n";
}

CompareOptions few(std::int64_t replications) {
  CompareOptions options;
  options.replications = replications;
  return options;
}

Comparison compared(const std::string& base, const std::string& candidate, const CompareOptions& options) {
  return compare(loaded(base), loaded(candidate), options);
}

const Difference& figure(const GroupDifferences& group, Figure figure) {
  for (const Difference& d : group.figures) {
    if (d.figure == figure) return d;
  }
  throw std::runtime_error("no such figure");
}

GateVerdict gate(const Comparison& c, Figure figure) {
  for (const GateOutcome& g : c.gates) {
    if (g.margin.figure == figure) return g.verdict;
  }
  return GateVerdict::kNotJudged;
}

}  // namespace

TEST_CASE("two identical scenarios differ by exactly zero, and that is no go") {
  const Comparison c = compared(scaled(1), scaled(1), few(4));
  for (const GroupDifferences& group : c.groups) {
    for (const Difference& d : group.figures) {
      INFO(group.name << " " << name(d.figure));
      CHECK(d.zero);
      CHECK(d.difference.mean == 0);
      CHECK(d.difference.low == 0);
      CHECK(d.difference.high == 0);
    }
  }
  CHECK(c.groups.size() > 3);
  CHECK(c.same_world);
  CHECK(c.verdict == Verdict::kNoDifference);
}

TEST_CASE("a planted regression of 3 % of p99 is a no-go, and the way back is a go") {
  // Steps that take 3 % longer; queueing makes a little more of it.
  const Comparison worse = compared(scaled(1), scaled(1.03), few(10));
  const Difference& ttft = figure(worse.groups[0], Figure::kTtftP99);
  CHECK(*ttft.relative(ttft.difference.low) > 0.02);
  CHECK(gate(worse, Figure::kTtftP99) == GateVerdict::kFail);
  CHECK(worse.verdict == Verdict::kNoGo);
  CHECK(compared(scaled(1.03), scaled(1), few(10)).verdict == Verdict::kGo);
}

TEST_CASE("a regression of 1 % is within the margins of 2 %") {
  const Comparison c = compared(scaled(1), scaled(1.01), few(10));
  CHECK(c.verdict == Verdict::kGo);
  CompareOptions strict = few(10);
  strict.margins = {{Figure::kE2eP50, 0.005}};
  CHECK(compared(scaled(1), scaled(1.01), strict).verdict == Verdict::kNoGo);
}

TEST_CASE("exchanging base and candidate negates every difference") {
  const Comparison there = compared(scaled(1), scaled(1.1), few(3));
  const Comparison back = compared(scaled(1.1), scaled(1), few(3));
  REQUIRE(there.groups.size() == back.groups.size());
  for (std::size_t g = 0; g < there.groups.size(); ++g) {
    REQUIRE(there.groups[g].figures.size() == back.groups[g].figures.size());
    for (std::size_t f = 0; f < there.groups[g].figures.size(); ++f) {
      const MeanInterval& x = there.groups[g].figures[f].difference;
      const MeanInterval& y = back.groups[g].figures[f].difference;
      CHECK(x.mean == -y.mean);
      CHECK(x.low == -y.high);
      CHECK(x.high == -y.low);
    }
  }
}

TEST_CASE("one replication is never evidence enough, and a few too few say how many would do") {
  const Comparison one = compared(scaled(1), scaled(1.01), few(1));
  CHECK(one.verdict == Verdict::kNotEnoughEvidence);
  CHECK(one.replications_needed == 2);
  // A worse pool for the same world, with much chance: another seed of the candidate's load.
  std::string other = scaled(1.019);
  CompareOptions options = few(2);
  options.margins = {{Figure::kTtftP99, 0.02}};
  other.replace(other.find("rate: 2/s"), 9, "rate: 2.01/s");
  const Comparison c = compared(scaled(1), other, options);
  CHECK_FALSE(c.same_world);
  if (c.verdict == Verdict::kNotEnoughEvidence && c.replications_needed) CHECK(*c.replications_needed > 2);
  CHECK(c.verdict != Verdict::kGo);
}

TEST_CASE("where one gate would fail alone, it says how many replications decide that, not how many decide all gates") {
  const auto outcome = [](Figure figure, bool beyond, std::optional<std::int64_t> needed) {
    GateOutcome gate;
    gate.margin.figure = figure;
    gate.verdict = GateVerdict::kUndecided;
    gate.mean_beyond = beyond;
    gate.replications_needed = needed;
    return gate;
  };
  const GateOutcome slow = outcome(Figure::kTtftP99, false, 70), fast = outcome(Figure::kE2eP99, true, 4);
  CHECK(replications_to_decide({slow, fast}) == 4);
  CHECK(replications_to_decide({slow, outcome(Figure::kE2eP99, false, 4)}) == 70);
  CHECK(replications_to_decide({slow, fast, outcome(Figure::kCost, true, 3)}) == 3);
  CHECK(replications_to_decide({fast, GateOutcome()}) == 4);  // one that cannot be judged hinders a go alone
  CHECK_FALSE(replications_to_decide({slow, GateOutcome()}));
  CHECK_FALSE(replications_to_decide({slow, outcome(Figure::kE2eP99, false, {})}));
  const Comparison c = compared(scaled(1), scaled(1.03), few(2));
  for (const GateOutcome& g : c.gates) {
    if (g.verdict == GateVerdict::kUndecided && g.mean_beyond) CHECK(*c.replications_needed <= *g.replications_needed);
  }
}

TEST_CASE("a comparison is the same to the byte on one thread and on five") {
  CompareOptions options = few(5);
  options.threads = 1;
  const std::string one = comparison_json(compared(scaled(1), scaled(1.02), options));
  options.threads = 5;
  CHECK(comparison_json(compared(scaled(1), scaled(1.02), options)) == one);
}

TEST_CASE("without a price there is no go until the gate is left out") {
  const auto free = [](double scale) {
    std::string text = scaled(scale);
    return text.replace(text.find("{reserved: $2/h}"), 16, "none");
  };
  const Comparison c = compared(free(1), free(1.01), few(10));
  CHECK(gate(c, Figure::kCost) == GateVerdict::kNotJudged);
  CHECK(c.verdict == Verdict::kNotEnoughEvidence);
  CompareOptions options = few(10);
  options.margins.pop_back();
  CHECK(compared(free(1), free(1.01), options).verdict == Verdict::kGo);
}

TEST_CASE("a request that never ends is endless, not left out") {
  const auto impatient = [](double scale) {
    std::string text = scaled(scale);
    return text.replace(text.find("chat: {"), 7, "chat: {timeout: 1500 ms, ");
  };
  const Comparison c = compared(impatient(1), impatient(1.6), few(4));
  CHECK(c.verdict == Verdict::kNoGo);
  const Difference& d = figure(c.groups[0], Figure::kErrorRate);
  CHECK(d.difference.low > 0);
}

TEST_CASE("who gains and who loses is told by class and by length of the prompt") {
  const Comparison c = compared(scaled(1), scaled(1.05), few(6));
  std::vector<std::string> names;
  for (const GroupDifferences& group : c.groups) {
    names.push_back(group.name);
    if (group.name != "<= 32768") CHECK(who_gains(group) == "loses");
  }
  CHECK(names[1] == "chat");
  CHECK(std::find(names.begin(), names.end(), "other") == names.end());  // it has no requests
  CHECK(std::find(names.begin(), names.end(), "<= 2048") != names.end());
}

TEST_CASE("scenarios with other classes cannot be compared") {
  std::string other = scaled(1);
  other.replace(other.find("other: {}"), 9, "third: {}");
  CHECK_THROWS_WITH(compared(scaled(1), other, few(2)),
                    "s.yaml: its models and classes are not those of s.yaml, so nothing can be compared");
}
