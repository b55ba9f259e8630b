// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdlib>

#include "scenarios/catalog.h"
#include "scenarios/catalog_read.h"
#include "scenarios/error.h"
#include "tests/support/temporary_folder.h"

/// How catalog files are found and read.
namespace poolcast {
namespace {

using Catch::Contains;
using Catch::StartsWith;

TransformerShape shape(const std::string& text) {
  MappingReader reader(parse_yaml("file", text));
  TransformerShape shape = read_transformer_shape(reader, {});
  reader.finish();
  return shape;
}

Accelerator accelerator(const std::string& figures) {
  const std::string head = "title: X\nvendor: v\nfamily: f\nkind: npu\n";
  return read_accelerator("x", parse_yaml("file", head + figures),
                          SourceNames(parse_yaml("file", "short: a long name")));
}

TEST_CASE("a shape needs its sizes and fills in what follows from them") {
  const TransformerShape small = shape("{layers: 2, hidden: 64, heads: 4, intermediate: 128, vocab: 100}");
  CHECK(small.kv_heads == 4);
  CHECK(small.head_dim == 16);
  CHECK(small.mlp_matrices == 3);
  CHECK(small.context_limit == 0);
  CHECK_FALSE(small.tied_embeddings);
  CHECK_FALSE(small.moe);
  const TransformerShape full = shape(
      "{layers: 2, hidden: 64, heads: 4, kv_heads: 2, head_dim: 32, intermediate: 128, vocab: 100, mlp_matrices: 2, "
      "tied_embeddings: true, context_limit: 512, moe: {experts: 8, experts_per_token: 2, intermediate: 32, "
      "shared_experts: 1, first_dense_layers: 1}, mla: {q_lora_rank: 24, kv_lora_rank: 16, qk_nope_head_dim: 8, "
      "qk_rope_head_dim: 4, v_head_dim: 6}}");
  CHECK(full.head_dim == 32);
  CHECK(full.kv_heads == 2);
  CHECK(full.mlp_matrices == 2);
  CHECK(full.tied_embeddings);
  CHECK(full.context_limit == 512);
  CHECK(full.moe->experts == 8);
  CHECK(full.moe->experts_per_token == 2);
  CHECK(full.moe->intermediate == 32);
  CHECK(full.moe->shared_experts == 1);
  CHECK(full.moe->first_dense_layers == 1);
  CHECK(full.mla->q_lora_rank == 24);
  CHECK(full.mla->kv_lora_rank == 16);
  CHECK(full.mla->qk_nope_head_dim == 8);
  CHECK(full.mla->qk_rope_head_dim == 4);
  CHECK(full.mla->v_head_dim == 6);
}

TEST_CASE("a shape that cannot be is refused where it is written") {
  CHECK_THROWS_WITH(shape("{layers: 2, hidden: 64, heads: 4, kv_heads: 3, intermediate: 128, vocab: 100}"),
                    StartsWith("file:1:1: kv_heads 3 does not divide heads 4"));
  CHECK_THROWS_WITH(shape("{layers: 2, hidden: 65, heads: 4, intermediate: 128, vocab: 100}"),
                    StartsWith("file:1:1: missing key \"head_dim\""));
  CHECK_THROWS_WITH(shape("{layers: 0, hidden: 64, heads: 4, intermediate: 128, vocab: 100}"), Contains("layers"));
  CHECK_THROWS_WITH(shape("{layers: 2, hidden: 64, heads: 4, intermediate: 128}"), Contains("vocab"));
  CHECK_THROWS_WITH(shape("{layers: 2, hidden: 64, heads: 4, intermediate: 128, vocab: 100, kv_head: 2}"),
                    Contains("kv_heads"));
  CHECK_THROWS_WITH(shape("{layers: 2, hidden: 64, heads: 4, intermediate: 128, vocab: 100, moe: {experts: 2, "
                          "experts_per_token: 3, intermediate: 4}}"),
                    Contains("moe: experts_per_token 3 is above experts 2"));
}

TEST_CASE("a figure has a value and a source, or a reason why it is missing") {
  const Accelerator known = accelerator("memory: {value: 80 GB, source: short, note: HBM}\ntdp: {missing: unknown}");
  CHECK(known.kind == DeviceKind::kNpu);
  CHECK(known.memory.value == Bytes(80e9));
  CHECK(known.memory.source == "a long name");
  CHECK(known.memory.note == "HBM");
  CHECK_FALSE(known.tdp.value);
  CHECK(known.tdp.note == "unknown");
  CHECK_FALSE(known.memory_bandwidth.value);
  CHECK_THROWS_WITH(accelerator("memory: {value: 80 GB}"), Contains("memory: missing key \"source\""));
  CHECK_THROWS_AS(accelerator("memory: {value: 80 GB, source: s, missing: why}"), ConfigError);
  CHECK_THROWS_AS(accelerator("memory: {source: s}"), ConfigError);
  CHECK_THROWS_AS(accelerator("memory: {value: 80, source: s}"), ConfigError);
  CHECK_THROWS_AS(accelerator("fp16: {value: 80 TFLOP/s, source: s}"), ConfigError);
}

TEST_CASE("a price range runs from the lowest to the highest") {
  const auto price = [](const std::string& text) {
    return read_price_entry(
        parse_yaml("file", "{provider: p, instance: i, device: d, count: 4, source: s, " + text + "}"), SourceNames());
  };
  CHECK(price("on_demand: $8/h").on_demand_per_device()->value == 2);
  CHECK(price("spot: [$1/h, $2/h]").spot_highest->value == 2);
  CHECK_FALSE(price("spot: [$1/h, $2/h]").on_demand_per_device());
  CHECK_THROWS_WITH(price("spot: [$2/h, $1/h]"), Contains("the lowest price is above the highest"));
  CHECK_THROWS_WITH(price("spot: [$2/h]"), Contains("expected the lowest and the highest price"));
  CHECK_THROWS_AS(price("on_demand: 700.0"), ConfigError);
}

TEST_CASE("only the files that are asked for are read") {
  const testing::TemporaryFolder folder;
  testing::write_file(
      folder.file("models.yaml"),
      "models: {m: {hub: h, source: s, shape: {layers: 2, hidden: 64, heads: 4, intermediate: 128, vocab: "
      "100}}}");
  testing::write_file(folder.file("prices.yaml"), "prices: [");
  const Catalog catalog = Catalog::load(folder.path().string());
  REQUIRE(catalog.model("m") != nullptr);
  CHECK(catalog.model("m")->title == "h");
  CHECK(catalog.model("n") == nullptr);
  CHECK(catalog.model_names() == std::vector<std::string_view>{"m"});
  CHECK_THROWS_AS(catalog.prices(), ConfigError);
  CHECK_THROWS_AS(catalog.accelerators(), FileError);
  CHECK(catalog.folder() == folder.path().string());
}

TEST_CASE("a fault in a catalog file is reported with its place") {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.file("engines.yaml"), "engines:\n  vllm:\n    \"1\":\n      block_size: {defalt: 16}\n");
  const Catalog catalog = Catalog::load(folder.path().string());
  CHECK_THROWS_WITH(catalog.engine_defaults("vllm", "1", Accelerator{}), Contains("engines.yaml:4:"));
}

TEST_CASE("the folder that the environment names is taken or refused, never passed over") {
  const testing::TemporaryFolder folder;
  ::setenv("POOLCAST_CATALOG", folder.path().c_str(), 1);
  CHECK_THROWS_WITH(find_catalog_folder(), Contains("POOLCAST_CATALOG: no catalog in " + folder.path().string()));
  testing::write_file(folder.file("accelerators.yaml"), "accelerators: {}");
  CHECK(find_catalog_folder() == folder.path().string());
  ::unsetenv("POOLCAST_CATALOG");
  CHECK(find_catalog_folder() == std::string(POOLCAST_SOURCE_DIR) + "/scenarios/catalog");
}

}  // namespace
}  // namespace poolcast
