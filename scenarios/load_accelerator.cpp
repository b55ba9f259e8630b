// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

const Accelerator& find_accelerator(const YamlNode& node, const Catalog& catalog) {
  if (const Accelerator* const known = catalog.accelerator(node.text())) return *known;
  node.fail("the catalog has no accelerator " + quote(node.text()),
            spelling_hint(node.text(), catalog.accelerator_names()));
}

template <class T>
void read_figure(MappingReader& reader, const std::string& key, T (*read)(const YamlNode&), Sourced<T>& figure) {
  const auto node = reader.optional(key);
  if (!node) return;
  const T value = read(*node);
  if (!(value.value > 0)) node->fail("must be above 0, got " + quote(node->text()));
  figure = {value, "scenario", ""};
}

void read_word(MappingReader& reader, const std::string& key, std::string& word) {
  if (const auto node = reader.optional(key)) word = node->text();
}

}  // namespace

Accelerator load_accelerator(const YamlNode& node, const Catalog& catalog) {
  if (node.is_scalar()) return find_accelerator(node, catalog);
  MappingReader reader(node);
  Accelerator accelerator;
  const auto base = reader.optional("base");
  if (base) accelerator = find_accelerator(*base, catalog);
  if (const auto name = base ? reader.optional("name") : reader.required("name")) accelerator.name = name->text();
  read_word(reader, "title", accelerator.title);
  read_word(reader, "vendor", accelerator.vendor);
  read_word(reader, "family", accelerator.family);
  if (const auto kind = reader.optional("kind")) {
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(DeviceKind::kCpu); ++i) names.emplace_back(name(static_cast<DeviceKind>(i)));
    accelerator.kind = static_cast<DeviceKind>(kind->choice(names));
  }
  for (Precision precision : kPrecisions) {
    read_figure(reader, name(precision), &read_flops_per_second, accelerator.peak[static_cast<std::size_t>(precision)]);
  }
  read_figure(reader, "memory", &read_bytes, accelerator.memory);
  // A memory that the file states replaces what a driver reports of another device.
  if (reader.has("memory")) accelerator.addressable_memory = {};
  read_figure(reader, "addressable_memory", &read_bytes, accelerator.addressable_memory);
  read_figure(reader, "memory_bandwidth", &read_bytes_per_second, accelerator.memory_bandwidth);
  read_figure(reader, "tdp", &read_watts, accelerator.tdp);
  read_figure(reader, "link_bandwidth", &read_bytes_per_second, accelerator.link_bandwidth);
  reader.finish();
  return accelerator;
}

}  // namespace poolcast
