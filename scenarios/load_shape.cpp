// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/load_parts.h"

namespace poolcast {
namespace {

constexpr std::int64_t kLargestSize = 100'000'000;  // of any dimension: products of three stay exact enough

const TransformerShape& find_shape(const YamlNode& node, const Catalog& catalog) {
  if (const auto* const known = catalog.model(node.text())) return known->shape;
  node.fail("the catalog has no model " + quote(node.text()), spelling_hint(node.text(), catalog.model_names()));
}

/// A size; one that `size` does not hold yet must be there.
void read_size(MappingReader& reader, const std::string& key, std::int64_t& size, std::int64_t least = 1) {
  const auto node = size == 0 && least > 0 ? reader.required(key) : reader.optional(key);
  if (node) size = node->integer(least, kLargestSize);
}

MoeShape load_moe(const YamlNode& node, MoeShape moe) {
  MappingReader reader(node);
  read_size(reader, "experts", moe.experts);
  read_size(reader, "experts_per_token", moe.experts_per_token);
  read_size(reader, "intermediate", moe.intermediate);
  read_size(reader, "shared_experts", moe.shared_experts, 0);
  read_size(reader, "first_dense_layers", moe.first_dense_layers, 0);
  reader.finish();
  if (moe.experts_per_token > moe.experts) {
    node.fail(fmt::format("experts_per_token {} is above experts {}", moe.experts_per_token, moe.experts));
  }
  return moe;
}

MlaShape load_mla(const YamlNode& node, MlaShape mla) {
  MappingReader reader(node);
  read_size(reader, "q_lora_rank", mla.q_lora_rank, 0);
  read_size(reader, "kv_lora_rank", mla.kv_lora_rank);
  read_size(reader, "qk_nope_head_dim", mla.qk_nope_head_dim);
  read_size(reader, "qk_rope_head_dim", mla.qk_rope_head_dim);
  read_size(reader, "v_head_dim", mla.v_head_dim);
  reader.finish();
  return mla;
}

void check_shape(const YamlNode& node, const TransformerShape& shape) {
  if (shape.heads % shape.kv_heads != 0) {
    node.fail(fmt::format("kv_heads {} does not divide heads {}", shape.kv_heads, shape.heads));
  }
  if (shape.moe && shape.moe->first_dense_layers > shape.layers) {
    node.fail(fmt::format("first_dense_layers {} is above layers {}", shape.moe->first_dense_layers, shape.layers));
  }
  if (shape.dense_layers() > 0 && shape.intermediate == 0)
    node.fail("missing key \"intermediate\": there are dense layers");
}

}  // namespace

TransformerShape load_shape(const YamlNode& node, const Catalog& catalog) {
  if (node.is_scalar()) return find_shape(node, catalog);
  MappingReader reader(node);
  TransformerShape shape;
  if (const auto base = reader.optional("base")) shape = find_shape(*base, catalog);
  if (const auto name = reader.optional("name")) shape.name = name->text();
  if (shape.name.empty()) shape.name = "inline shape";
  read_size(reader, "layers", shape.layers);
  read_size(reader, "hidden", shape.hidden);
  read_size(reader, "heads", shape.heads);
  if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
  read_size(reader, "kv_heads", shape.kv_heads);
  if (shape.head_dim == 0) shape.head_dim = shape.hidden / shape.heads;
  read_size(reader, "head_dim", shape.head_dim);
  read_size(reader, "intermediate", shape.intermediate, 0);
  read_size(reader, "vocab", shape.vocab);
  if (const auto matrices = reader.optional("mlp_matrices")) shape.mlp_matrices = matrices->integer(2, 3);
  if (const auto tied = reader.optional("tied_embeddings")) shape.tied_embeddings = tied->boolean();
  read_size(reader, "context_limit", shape.context_limit, 0);
  if (const auto moe = reader.optional("moe")) shape.moe = load_moe(*moe, shape.moe.value_or(MoeShape{}));
  if (const auto mla = reader.optional("mla")) shape.mla = load_mla(*mla, shape.mla.value_or(MlaShape{}));
  reader.finish();
  check_shape(node, shape);
  return shape;
}

}  // namespace poolcast
