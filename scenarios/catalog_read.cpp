// SPDX-License-Identifier: Apache-2.0
#include "scenarios/catalog_read.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "scenarios/units.h"

namespace poolcast {
namespace {

constexpr std::int64_t kLargestSize = 100'000'000;  // of any dimension: products of three stay exact enough
constexpr std::int64_t kMostDevices = 1'000'000;

std::string text_or_empty(MappingReader& reader, const std::string& key) {
  const auto node = reader.optional(key);
  return node ? node->text() : std::string();
}

template <class T>
void read_figure(MappingReader& reader, const std::string& key, const SourceNames& sources, Sourced<T>& figure,
                 T (*read)(const YamlNode&)) {
  const auto node = reader.optional(key);
  if (!node) return;
  MappingReader parts(*node);
  const auto [which, value] = parts.one_of({"value", "missing"});
  if (which == 1) {
    figure.note = value.text();
  } else {
    figure.value = read(value);
    figure.source = sources.full(parts.required("source"));
    figure.note = text_or_empty(parts, "note");
  }
  parts.finish();
}

/// A size; one that `size` does not hold yet must be there.
void read_size(MappingReader& reader, const std::string& key, std::int64_t& size, std::int64_t least = 1) {
  const auto node = size == 0 && least > 0 ? reader.required(key) : reader.optional(key);
  if (node) size = node->integer(least, kLargestSize);
}

MoeShape read_moe(const YamlNode& node, MoeShape moe) {
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

MlaShape read_mla(const YamlNode& node, MlaShape mla) {
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

std::optional<DollarsPerHour> read_amount(MappingReader& reader, const std::string& key) {
  const auto node = reader.optional(key);
  if (!node) return std::nullopt;
  return read_price(*node).amount;
}

using Range = std::pair<std::optional<DollarsPerHour>, std::optional<DollarsPerHour>>;

Range read_range(MappingReader& reader, const std::string& key) {
  const auto node = reader.optional(key);
  if (!node) return {};
  const std::vector<YamlNode> ends = node->items();
  if (ends.size() != 2) node->fail("expected the lowest and the highest price, such as [$1/h, $2/h]");
  const Range range{read_price(ends[0]).amount, read_price(ends[1]).amount};
  if (range.first > range.second) node->fail("the lowest price is above the highest");
  return range;
}

}  // namespace

std::string SourceNames::full(const YamlNode& source) const {
  const auto entry = sources_.find(source.text());
  return entry ? entry->text() : source.text();
}

Accelerator read_accelerator(const std::string& name, const YamlNode& node, const SourceNames& sources) {
  MappingReader reader(node);
  Accelerator accelerator;
  accelerator.name = name;
  accelerator.title = reader.required("title").text();
  accelerator.vendor = reader.required("vendor").text();
  accelerator.family = reader.required("family").text();
  std::vector<std::string_view> kinds;
  for (DeviceKind kind : kDeviceKinds) kinds.push_back(poolcast::name(kind));
  accelerator.kind = kDeviceKinds[reader.required("kind").choice(kinds)];
  for (Precision precision : kPrecisions) {
    read_figure(reader, poolcast::name(precision), sources, accelerator.peak[static_cast<std::size_t>(precision)],
                read_flops_per_second);
  }
  read_figure(reader, "memory", sources, accelerator.memory, read_bytes);
  read_figure(reader, "addressable_memory", sources, accelerator.addressable_memory, read_bytes);
  read_figure(reader, "memory_bandwidth", sources, accelerator.memory_bandwidth, read_bytes_per_second);
  read_figure(reader, "tdp", sources, accelerator.tdp, read_watts);
  read_figure(reader, "link_bandwidth", sources, accelerator.link_bandwidth, read_bytes_per_second);
  reader.finish();
  return accelerator;
}

TransformerShape read_transformer_shape(MappingReader& reader, TransformerShape shape) {
  read_size(reader, "layers", shape.layers);
  read_size(reader, "hidden", shape.hidden);
  read_size(reader, "heads", shape.heads);
  if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
  read_size(reader, "kv_heads", shape.kv_heads);
  if (shape.head_dim == 0 && shape.hidden % shape.heads == 0) shape.head_dim = shape.hidden / shape.heads;
  read_size(reader, "head_dim", shape.head_dim);
  read_size(reader, "intermediate", shape.intermediate, 0);
  read_size(reader, "vocab", shape.vocab);
  if (const auto matrices = reader.optional("mlp_matrices")) shape.mlp_matrices = matrices->integer(2, 3);
  if (const auto tied = reader.optional("tied_embeddings")) shape.tied_embeddings = tied->boolean();
  read_size(reader, "context_limit", shape.context_limit, 0);
  if (const auto moe = reader.optional("moe")) shape.moe = read_moe(*moe, shape.moe.value_or(MoeShape{}));
  if (const auto mla = reader.optional("mla")) shape.mla = read_mla(*mla, shape.mla.value_or(MlaShape{}));
  check_shape(reader.node(), shape);
  return shape;
}

ModelEntry read_model(const std::string& name, const YamlNode& node, const SourceNames& sources) {
  MappingReader reader(node);
  ModelEntry model;
  model.title = reader.required("hub").text();
  model.source = sources.full(reader.required("source"));
  model.note = text_or_empty(reader, "note");
  MappingReader shape(reader.required("shape"));
  model.shape.name = name;
  model.shape = read_transformer_shape(shape, model.shape);
  shape.finish();
  const auto parameters = reader.optional("parameters");
  if (parameters) model.parameters = parameters->number(1, 1e15);
  const auto active = reader.optional("active_parameters");
  if (active) model.active_parameters = active->number(1, 1e15);
  reader.finish();
  return model;
}

PriceEntry read_price_entry(const YamlNode& node, const SourceNames& sources) {
  MappingReader reader(node);
  PriceEntry price;
  price.provider = reader.required("provider").text();
  price.instance = reader.required("instance").text();
  price.device = reader.required("device").text();
  price.accelerator = text_or_empty(reader, "accelerator");
  price.count = reader.required("count").integer(1, kMostDevices);
  price.on_demand = read_amount(reader, "on_demand");
  price.reserved = read_amount(reader, "reserved");
  std::tie(price.spot_lowest, price.spot_highest) = read_range(reader, "spot");
  std::tie(price.claimed_lowest, price.claimed_highest) = read_range(reader, "claimed");
  price.region = text_or_empty(reader, "region");
  price.note = text_or_empty(reader, "note");
  price.source = sources.full(reader.required("source"));
  reader.finish();
  return price;
}

}  // namespace poolcast
