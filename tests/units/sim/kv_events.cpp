// SPDX-License-Identifier: Apache-2.0
// What engines tell of their prefix caches, when, and what a router makes of it; worked out by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/decision_log.h"
#include "sim/kv_events.h"
#include "sim/routing/aliases.h"
#include "sim/routing/exact_index.h"
#include "sim/routing/pipeline.h"
#include "sim/schedulers/kv_blocks.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

using Counts = std::vector<std::int64_t>;

/// "+3 -1": what was published, with the hash of block i of a content spelt as i.
std::string read(KvEvents& events, SimTime until, const std::vector<std::uint64_t>& names) {
  std::string text;
  events.read(until, [&](std::uint64_t block, bool stored) {
    const auto place = std::find(names.begin(), names.end(), block);
    text += (text.empty() ? "" : " ") + std::string(stored ? "+" : "-") +
            (place == names.end() ? "?" : std::to_string(place - names.begin()));
  });
  return text;
}

Counts matches(routing::ExactIndex& index, const Content& content, std::int64_t tokens, std::size_t endpoints) {
  std::vector<routing::PrefixMatch> found(endpoints);
  index.look_up(content, tokens, found);
  Counts counts;
  for (const routing::PrefixMatch& match : found) counts.push_back(match.match_blocks);
  return counts;
}

Arrival with_content(double at_s, std::vector<Segment> prompt, std::int64_t output, std::uint64_t name = 0) {
  std::int64_t tokens = 0;
  for (const Segment& s : prompt) tokens += s.tokens;
  Arrival a = arrival(at_s, tokens, output);
  a.content.prompt = std::move(prompt);
  a.content.output = name;
  return a;
}

/// Steps of 100 ms, blocks of 10 tokens, one replica; requests by match.
SimulationSpec world(std::vector<Arrival> arrivals, std::int64_t blocks = 1000, SimTime delay = 0) {
  SimulationSpec spec = one_pool(fixed_step(0.1));
  VllmArgs& args = spec.pools[0].vllm();
  args.block_size = 10;
  args.num_gpu_blocks = blocks + 1;
  args.enable_prefix_caching = true;
  routing::PipelineSpec pipeline;
  pipeline.plugins = {{"precise", "precise-prefix-cache-scorer", {}}};
  complete_pipeline(pipeline);
  spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(pipeline);
  spec.routing.pool[0].signals.prefix_delay = delay;
  add_list(spec, std::move(arrivals));
  return spec;
}

/// What the router knows of the prompt of arrival `row` when it chooses: the same in leaps and step by step.
std::int64_t known(const std::vector<Arrival>& arrivals, std::uint64_t row, std::int64_t blocks = 1000,
                   SimTime delay = 0, bool ahead = false) {
  std::int64_t match[2];
  for (const bool stepwise : {false, true}) {
    SimulationSpec spec = world(arrivals, blocks, delay);
    spec.stepwise = stepwise;
    spec.pools[0].vllm().async_scheduling = ahead;
    DecisionLog log;
    log.source = SourceId(0u);
    log.row = row;
    spec.log = &log;
    simulate(std::move(spec));
    REQUIRE(log.pipelines.size() == 1);
    match[stepwise] = log.pipelines[0].seen.prefix[0].match_blocks;
  }
  CHECK(match[0] == match[1]);
  return match[0];
}

}  // namespace

TEST_CASE("events come in batches: what was not published is not read, and nothing is read twice") {
  KvEvents events;
  const std::vector<std::uint64_t> names = {7, 8, 9};
  events.stored(7);
  events.stored(8);
  CHECK(read(events, 100, names).empty());
  events.publish(10);
  events.removed(7);
  CHECK(read(events, 9, names).empty());
  CHECK(read(events, 10, names) == "+0 +1");
  CHECK(read(events, 100, names).empty());
  events.publish(20);
  events.stored(9);
  events.publish(30);
  CHECK(read(events, 25, names) == "-0");
  CHECK(read(events, 30, names) == "+2");
}

TEST_CASE("a block comes in with its first copy and leaves with its last") {
  RequestTable table;
  KvBlocks kv(10, 4, true, table);
  KvEvents events;
  kv.tell(&events);
  std::vector<RequestId> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(table.create());
    table.state(ids.back()).prompt_tokens = 20;
    table.content(ids.back()) = {{{i < 3 ? 1u : 2u, 0, 20}}};
    kv.open_table(ids.back());
  }
  std::vector<std::uint64_t> names;
  KvTable of_first;
  of_first.open(table.content(ids[0]), 20, 0);
  for (std::size_t i = 0; i < 2; ++i) names.push_back(of_first.hash(i, table.content(ids[0]), 10));
  const auto told = [&] {
    events.publish(1);
    return read(events, 1, names);
  };

  kv.match(ids[0], 20);
  kv.admit(ids[0], 20);
  CHECK(told() == "+0 +1");
  kv.match(ids[1], 20);
  kv.admit(ids[1], 20);  // hits block 0, and computes a copy of block 1
  CHECK(told().empty());
  kv.release(ids[0], 20, 20);
  kv.release(ids[1], 20, 20);
  CHECK(told().empty());
  CHECK(kv.free() == 4);

  // Four blocks for other tokens, which nobody has: one was never used, then the first copy of block 1, the second, …
  kv.match(ids[3], 10);
  kv.admit(ids[3], 10);
  CHECK(told() == "+?");
  kv.grow(ids[3], 10, 20);
  CHECK(told() == "+?");  // the first copy: another one is left
  CHECK(kv.match(ids[2], 21).blocks == 2);
  kv.open(1);
  CHECK(told() == "-1");
  CHECK(kv.match(ids[2], 21).blocks == 1);
}

TEST_CASE("an exact match is the longest run of cached blocks from the first one on") {
  routing::ExactIndex index(10, 3, 1);
  const Content content{{{1, 0, 100}}};
  std::vector<routing::PrefixMatch> found(3);
  index.look_up(content, 45, found);
  CHECK(found[0].total_blocks == 4);
  CHECK(found[0].block_size_tokens == 10);
  const std::vector<std::uint64_t> names(index.present().begin(), index.present().end());
  REQUIRE(names.size() == 4);
  for (const std::size_t i : {0, 1, 2}) index.stored(0, names[i]);
  for (const std::size_t i : {1, 2, 3}) index.stored(1, names[i]);  // without the first
  for (const std::size_t i : {0, 2, 3}) index.stored(2, names[i]);  // with a hole
  CHECK(matches(index, content, 45, 3) == Counts{3, 0, 1});
  CHECK(matches(index, content, 29, 3) == Counts{2, 0, 1});
  CHECK(matches(index, content, 9, 3) == Counts{0, 0, 0});
  CHECK(matches(index, {}, 45, 3) == Counts{0, 0, 0});
  CHECK(matches(index, {{{1, 0, 20}, {5, 0, 25}}}, 45, 3) == Counts{2, 0, 1});
  index.stored(2, names[1]);
  index.removed(0, names[1]);
  CHECK(matches(index, content, 45, 3) == Counts{1, 0, 4});
  CHECK(index.found().size() == 2);
}

TEST_CASE("of an endpoint with several caches the one that holds most of a prompt counts") {
  routing::ExactIndex index(10, 2, 2);
  const Content content{{{1, 0, 40}}};
  CHECK(matches(index, content, 40, 2) == Counts{0, 0});
  const std::vector<std::uint64_t> names(index.present().begin(), index.present().end());
  index.stored(2, names[0]);
  index.stored(3, names[0]);
  index.stored(3, names[1]);
  index.stored(2, names[2]);
  CHECK(matches(index, content, 40, 2) == Counts{0, 2});
  CHECK(index.found().size() == 1);
  index.removed(3, names[0]);
  CHECK(matches(index, content, 40, 2) == Counts{0, 1});
}

TEST_CASE("blocks of a prompt are known when the step that computes them has ended, and after the delay") {
  // The prompt is computed from 0 to 100 ms.
  const auto second = [](double at_s) {
    return std::vector<Arrival>{with_content(0, {{1, 0, 45}}, 1), with_content(at_s, {{1, 0, 45}}, 1)};
  };
  CHECK(known(second(0.0), 1) == 0);
  CHECK(known(second(0.099), 1) == 0);
  CHECK(known(second(0.1), 1) == 4);
  constexpr SimTime kDelay = 50'000'000;
  CHECK(known(second(0.1), 1, 1000, kDelay) == 0);
  CHECK(known(second(0.1499), 1, 1000, kDelay) == 0);
  CHECK(known(second(0.15), 1, 1000, kDelay) == 4);
}

TEST_CASE("blocks that a run of decoding steps fills are known step by step") {
  // 15 tokens, then one a step: the prefill ends at 100 ms and gives token 16; the step that ends at (1 + k) * 100 ms
  // computes token 15 + k, so that 20 are computed at 600 ms and 30 at 1,600 ms.
  const auto quoted = [](double at_s) {
    return std::vector<Arrival>{with_content(0, {{1, 0, 15}}, 40, 77),
                                with_content(at_s, {{1, 0, 15}, {77, 0, 20}}, 1)};
  };
  CHECK(known(quoted(0.1), 1) == 1);
  CHECK(known(quoted(0.59), 1) == 1);
  CHECK(known(quoted(0.6), 1) == 2);
  CHECK(known(quoted(1.55), 1) == 2);
  CHECK(known(quoted(1.6), 1) == 3);
  CHECK(known(quoted(1.6), 1, 1000, 100'000'000) == 2);
  CHECK(known(quoted(1.7), 1, 1000, 100'000'000) == 3);
  CHECK(known(quoted(9), 1) == 3);
}

TEST_CASE("blocks that a run of decoding steps takes are known to be lost step by step") {
  // Six blocks. The first request fills four and leaves at 100 ms; tail first, they wait to be taken. The second, of
  // other tokens, computes 15 in the two blocks never used from 200 to 300 ms and decodes. The step from 800 to 900 ms
  // finds its tokens at 20 and takes the block that holds tokens 30 to 39; the one from 1,800 ms on takes the next.
  const auto later = [](double at_s) {
    return std::vector<Arrival>{with_content(0, {{1, 0, 40}}, 1), with_content(0.2, {{2, 0, 15}}, 40),
                                with_content(at_s, {{1, 0, 40}}, 1)};
  };
  CHECK(known(later(0.25), 2, 6) == 4);
  CHECK(known(later(0.85), 2, 6) == 4);
  CHECK(known(later(0.9), 2, 6) == 3);
  CHECK(known(later(1.85), 2, 6) == 3);
  CHECK(known(later(1.9), 2, 6) == 2);
  CHECK(known(later(1.9), 2, 6, 50'000'000) == 3);
  CHECK(known(later(1.95), 2, 6, 50'000'000) == 2);
}

TEST_CASE("what the plan of a step made ahead puts into the cache is told when the step before it ends") {
  // As above; beside it a request that nobody quotes ends at 600 ms, so that another run of steps begins there.
  const auto quoted = [](double at_s) {
    return std::vector<Arrival>{with_content(0, {{1, 0, 15}}, 40, 77), arrival(0, 5, 6),
                                with_content(at_s, {{1, 0, 15}, {77, 0, 20}}, 1)};
  };
  CHECK(known(quoted(0.1), 2, 1000, 0, true) == 1);
  CHECK(known(quoted(0.59), 2, 1000, 0, true) == 1);
  CHECK(known(quoted(0.6), 2, 1000, 0, true) == 2);
  CHECK(known(quoted(1.59), 2, 1000, 0, true) == 2);
  CHECK(known(quoted(1.6), 2, 1000, 0, true) == 3);
}

TEST_CASE("precise-prefix-cache-scorer scores the share of the prompt's blocks, each scorer by its own producer") {
  using namespace poolcast::routing;
  PipelineSpec spec;
  const Value exact = map_value({{"prefixMatchInfoProducerName", text_value("precise-prefix-cache-producer")}});
  const Value none = map_value({{"prefixMatchInfoProducerName", text_value("another")}});
  spec.plugins = {{"precise", "precise-prefix-cache-scorer", {}},
                  {"believed", "prefix-cache-scorer", {}},
                  {"known", "prefix-cache-scorer", exact},
                  {"nobody", "prefix-cache-scorer", none}};
  complete_pipeline(spec);
  routing::Pipeline pipeline(spec, 1, "test");
  Endpoints e;
  e.reset(3);
  e.prefix = {{3, 12, 16}, {12, 12, 16}, {0, 0, 16}};
  e.approximate = {{9, 12, 16}, {0, 12, 16}, {6, 12, 16}};
  pipeline.bind(e);
  PipelineTrace trace;
  pipeline.trace(&trace);
  const std::uint32_t all[] = {0, 1, 2};
  pipeline.decide({}, e, all);
  using Scores = std::vector<double>;
  REQUIRE(trace.scorers.size() == 4);
  REQUIRE(trace.kept == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(trace.scorers[0].scores == Scores{0.25, 1, 0});
  CHECK(trace.scorers[1].scores == Scores{0.75, 0, 0.5});
  CHECK(trace.scorers[2].scores == Scores{0.25, 1, 0});
  CHECK(trace.scorers[3].scores == Scores{0, 0, 0});
}

TEST_CASE("policies of other products that listen to KV events do so, and Dynamo's may be told not to") {
  using namespace poolcast::routing;
  for (const char* name : {"kv-aware", "dynamo-kv", "dynamo-kv@overlap-weight", "lmetric"}) {
    CHECK(exact_producer(find_alias(name)->make()).has_value());
    CHECK_FALSE(prefix_options(find_alias(name)->make()).has_value());
  }
  const Value off = map_value({{"no-router-kv-events", boolean_value(true)}});
  CHECK_FALSE(exact_producer(find_alias("dynamo-kv")->make(off)).has_value());
  CHECK(prefix_options(find_alias("dynamo-kv")->make(off)).has_value());
  CHECK_FALSE(exact_producer(find_alias("prefix-cache")->make()).has_value());
}

TEST_CASE("the pipeline of a precise scorer has the exact index, and the approximate one only if it is asked for") {
  const auto types = [](std::vector<routing::PluginSpec> plugins) {
    routing::PipelineSpec spec;
    spec.plugins = std::move(plugins);
    complete_pipeline(spec);
    return std::pair(routing::exact_producer(spec).has_value(), routing::prefix_options(spec).has_value());
  };
  using routing::map_value;
  using routing::text_value;
  const auto by = [&](const char* producer) {
    return map_value({{"prefixMatchInfoProducerName", text_value(producer)}});
  };
  CHECK(types({{"p", "precise-prefix-cache-scorer", {}}}) == std::pair(true, false));
  CHECK(types({{"p", "precise-prefix-cache-producer", {}}, {"q", "queue-scorer", {}}}) == std::pair(true, false));
  CHECK(types({{"a", "prefix-cache-scorer", {}}}) == std::pair(false, true));
  CHECK(types({{"a", "prefix-cache-scorer", {}}, {"p", "precise-prefix-cache-scorer", {}}}) == std::pair(true, true));
  CHECK(types({{"a", "prefix-cache-scorer", by("precise-prefix-cache-producer")}}) == std::pair(true, false));
  CHECK(types({{"mine", "precise-prefix-cache-producer", {}}, {"a", "prefix-cache-scorer", by("mine")}}) ==
        std::pair(true, false));
  CHECK(types({}) == std::pair(false, true));
}
