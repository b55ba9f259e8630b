// SPDX-License-Identifier: Apache-2.0
#include "scenarios/catalog_read.h"

#include <tuple>
#include <utility>

#include "scenarios/units.h"

namespace poolcast {
namespace {

constexpr std::int64_t kLargestSize = 1'000'000'000;
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

std::int64_t size_of(MappingReader& reader, const std::string& key) {
  return reader.required(key).integer(1, kLargestSize);
}

std::int64_t size_or(MappingReader& reader, const std::string& key, std::int64_t otherwise, std::int64_t least = 1) {
  const auto node = reader.optional(key);
  return node ? node->integer(least, kLargestSize) : otherwise;
}

MoeShape read_moe(const YamlNode& node, std::int64_t layers) {
  MappingReader reader(node);
  MoeShape moe;
  moe.experts = size_of(reader, "experts");
  moe.experts_per_token = reader.required("experts_per_token").integer(1, moe.experts);
  moe.intermediate = size_of(reader, "intermediate");
  moe.shared_experts = size_or(reader, "shared_experts", 0, 0);
  const auto dense = reader.optional("first_dense_layers");
  if (dense) moe.first_dense_layers = dense->integer(0, layers);
  reader.finish();
  return moe;
}

MlaShape read_mla(const YamlNode& node) {
  MappingReader reader(node);
  MlaShape mla;
  mla.q_lora_rank = size_or(reader, "q_lora_rank", 0, 0);
  mla.kv_lora_rank = size_of(reader, "kv_lora_rank");
  mla.qk_nope_head_dim = size_of(reader, "qk_nope_head_dim");
  mla.qk_rope_head_dim = size_of(reader, "qk_rope_head_dim");
  mla.v_head_dim = size_of(reader, "v_head_dim");
  reader.finish();
  return mla;
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

TransformerShape read_transformer_shape(const std::string& name, const YamlNode& node) {
  MappingReader reader(node);
  TransformerShape shape;
  shape.name = name;
  shape.layers = size_of(reader, "layers");
  shape.hidden = size_of(reader, "hidden");
  shape.heads = size_of(reader, "heads");
  shape.kv_heads = size_or(reader, "kv_heads", shape.heads);
  if (shape.heads % shape.kv_heads != 0) reader.fail_at_key("kv_heads", "must divide the number of heads");
  shape.intermediate = size_of(reader, "intermediate");
  shape.vocab = size_of(reader, "vocab");
  const auto head_dim = reader.optional("head_dim");
  if (!head_dim && shape.hidden % shape.heads != 0) {
    reader.fail_at_key("heads", "does not divide hidden; state head_dim");
  }
  shape.head_dim = head_dim ? head_dim->integer(1, kLargestSize) : shape.hidden / shape.heads;
  const auto matrices = reader.optional("mlp_matrices");
  if (matrices) shape.mlp_matrices = matrices->integer(2, 3);
  const auto tied = reader.optional("tied_embeddings");
  if (tied) shape.tied_embeddings = tied->boolean();
  shape.context_limit = size_or(reader, "context_limit", 0);
  const auto moe = reader.optional("moe");
  if (moe) shape.moe = read_moe(*moe, shape.layers);
  const auto mla = reader.optional("mla");
  if (mla) shape.mla = read_mla(*mla);
  reader.finish();
  return shape;
}

ModelEntry read_model(const std::string& name, const YamlNode& node, const SourceNames& sources) {
  MappingReader reader(node);
  ModelEntry model;
  model.title = reader.required("hub").text();
  model.source = sources.full(reader.required("source"));
  model.note = text_or_empty(reader, "note");
  model.shape = read_transformer_shape(name, reader.required("shape"));
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
