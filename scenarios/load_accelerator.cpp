// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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

/// A memory other than the catalog's makes another device, of which no driver reported anything.
void read_memory(MappingReader& reader, Accelerator& accelerator, const LoadContext& context) {
  constexpr double kMostAddressable = 1.1;  // datasheets print GB for what drivers report in GiB, 1.074 GB each
  const Sourced<Bytes> catalogued = accelerator.memory;
  read_figure(reader, "memory", &read_bytes, accelerator.memory);
  auto& addressable = accelerator.addressable_memory;
  const auto stated = reader.optional("addressable_memory");
  if (!stated && addressable.value && accelerator.memory.value != catalogued.value) {
    context.notes.push_back(
        fmt::format("{}: memory {} as stated; the {} that a driver reports of the catalog's device "
                    "are not used",
                    accelerator.name, to_text(*accelerator.memory.value), to_text(*addressable.value)));
    addressable = {};
  }
  read_figure(reader, "addressable_memory", &read_bytes, addressable);
  if (stated && accelerator.memory.value && *addressable.value > *accelerator.memory.value * kMostAddressable)
    stated->fail(fmt::format("{} can be addressed, but the device has {}", to_text(*addressable.value),
                             to_text(*accelerator.memory.value)));
}

void read_word(MappingReader& reader, const std::string& key, std::string& word) {
  if (const auto node = reader.optional(key)) word = node->text();
}

}  // namespace

Accelerator load_accelerator(const YamlNode& node, const LoadContext& context) {
  if (node.is_scalar()) return find_accelerator(node, context.catalog);
  MappingReader reader(node);
  Accelerator accelerator;
  const auto base = reader.optional("base");
  if (base) accelerator = find_accelerator(*base, context.catalog);
  if (const auto name = base ? reader.optional("name") : reader.required("name")) accelerator.name = name->text();
  read_word(reader, "title", accelerator.title);
  read_word(reader, "vendor", accelerator.vendor);
  read_word(reader, "family", accelerator.family);
  if (const auto kind = reader.optional("kind")) {
    std::vector<std::string_view> names;
    for (DeviceKind known : kDeviceKinds) names.emplace_back(name(known));
    accelerator.kind = kDeviceKinds[kind->choice(names)];
  }
  for (Precision precision : kPrecisions) {
    read_figure(reader, name(precision), &read_flops_per_second, accelerator.peak[static_cast<std::size_t>(precision)]);
  }
  read_memory(reader, accelerator, context);
  read_figure(reader, "memory_bandwidth", &read_bytes_per_second, accelerator.memory_bandwidth);
  read_figure(reader, "tdp", &read_watts, accelerator.tdp);
  read_figure(reader, "link_bandwidth", &read_bytes_per_second, accelerator.link_bandwidth);
  reader.finish();
  return accelerator;
}

}  // namespace poolcast
