// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/transformer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "calibration/live/block_tables.h"
#include "models/error.h"

using namespace poolcast;

namespace {

TransformerShape small() {
  TransformerShape shape;
  shape.name = "small";
  shape.layers = 2;
  shape.hidden = 64;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 16;
  shape.intermediate = 96;
  shape.vocab = 101;
  return shape;
}

LiveOptions portable() {
  LiveOptions options;
  options.implementation = "portable";
  options.kv_blocks = 64;
  options.block_size = 8;
  options.seed = 3;
  return options;
}

std::vector<float> row_of(const LiveTransformer& model, std::size_t row) {
  std::vector<float> values;
  for (const kernels::Bf16 x : model.logits().subspan(row * 101, 101)) values.push_back(kernels::to_float(x));
  return values;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(a[i] - b[i], 2);
    size += std::pow(a[i], 2);
  }
  return std::sqrt(difference / size);
}

/// Logits after `tokens` tokens of text 5, all in one chunk.
std::vector<float> at_once(Tokens tokens) {
  LiveTransformer model(small(), portable());
  std::vector<std::int32_t> blocks(64);
  std::iota(blocks.begin(), blocks.end(), 0);
  const LiveSequence all{blocks, tokens, 0, true, 5};
  model.forward({&all, 1});
  return row_of(model, 0);
}

}  // namespace

TEST_CASE("a sequence says the same whether it is computed at once, in chunks, or beside others in any blocks") {
  const std::vector<float> expected = at_once(50);
  LiveTransformer model(small(), portable());
  BlockTables tables(64, 8);
  const RequestId ours(1u), other(2u);
  const auto part = [&](RequestId id, Tokens query, Tokens context, bool samples) {
    return LiveSequence{tables.grow(id, context, context + query), query, context, samples, id == ours ? 5u : 9u};
  };
  std::vector<LiveSequence> batch = {part(other, 13, 0, false)};
  model.forward(batch);
  batch = {part(ours, 21, 0, false), part(other, 7, 13, true)};
  model.forward(batch);
  batch = {part(ours, 28, 21, false), part(other, 1, 20, true)};
  model.forward(batch);
  batch = {part(other, 1, 21, true), part(ours, 1, 49, true)};  // both decode
  model.forward(batch);
  CHECK(distance(expected, row_of(model, 1)) < 0.02);
  CHECK(distance(expected, row_of(model, 0)) > 0.2);  // what another text says
  CHECK(distance(expected, at_once(49)) > 0.2);       // and what this one says a token earlier
}

TEST_CASE("a block that is given back goes to the next that asks, and a sequence that starts anew gives up its own") {
  BlockTables tables(4, 8);
  const RequestId a(1u), b(2u);
  CHECK(tables.grow(a, 0, 17).size() == 3);
  CHECK(tables.free() == 1);
  CHECK(tables.grow(a, 17, 24).size() == 3);
  CHECK(tables.grow(a, 0, 8).size() == 1);
  CHECK(tables.free() == 3);
  CHECK(tables.grow(b, 0, 24).size() == 3);
  tables.forget(a);
  tables.forget(a);
  CHECK(tables.free() == 1);
}

TEST_CASE("the terms of a pass are its time, and attention is told by what runs") {
  LiveTransformer model(small(), portable());
  std::vector<std::int32_t> blocks(64);
  std::iota(blocks.begin(), blocks.end(), 0);
  const LiveSequence prompt{blocks, 40, 0, true, 5}, decode{blocks, 1, 40, true, 5};
  const double whole = model.forward({&prompt, 1}).wall.value;
  const TermTimes of_prompt = model.terms();
  CHECK(of_prompt.sum() <= whole);
  CHECK(of_prompt.sum() > 0.5 * whole);
  CHECK(of_prompt[LiveTerm::kPrefill] > of_prompt[LiveTerm::kDecode]);
  model.forward({&decode, 1});
  CHECK(model.terms()[LiveTerm::kDecode] > model.terms()[LiveTerm::kPrefill]);
  CHECK(model.terms().sum() < of_prompt.sum());  // of the last pass alone
}

TEST_CASE("what cannot be run live is told") {
  TransformerShape experts = small();
  experts.moe.emplace();
  CHECK_THROWS_WITH(LiveTransformer(experts, portable()), Catch::Contains("mixtures of experts"));
  LiveOptions options = portable();
  options.implementation = "abacus";
  CHECK_THROWS_WITH(LiveTransformer(small(), options), Catch::Contains("no abacus kernels here"));
}
