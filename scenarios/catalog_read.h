// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/catalog.h"
#include "scenarios/yaml.h"

/// One entry of a catalog file, from its YAML. Each throws ConfigError with the place of the fault.
namespace poolcast {

/// The mapping `sources` of a catalog file: short names for long sources.
class SourceNames {
 public:
  SourceNames() = default;
  explicit SourceNames(YamlNode sources) : sources_(std::move(sources)) {}

  /// The long form of a source; one without a short name stands for itself.
  std::string full(const YamlNode& source) const;

 private:
  YamlNode sources_;
};

/// {title, vendor, family, kind, bf16, fp8, int8, fp4, memory, addressable_memory, memory_bandwidth, tdp,
/// link_bandwidth}. A figure is {value, source, note}, or {missing: why}; one that is absent is missing.
Accelerator read_accelerator(const std::string& name, const YamlNode& node, const SourceNames& sources);

/// The fields of TransformerShape by their own names, over those that `shape` holds already; `moe` and `mla` are
/// mappings. `head_dim` defaults to hidden / heads, `kv_heads` to heads. Sizes are positive; kv_heads divides heads.
TransformerShape read_transformer_shape(MappingReader& reader, TransformerShape shape);

/// {hub, source, note, shape, parameters, active_parameters}.
ModelEntry read_model(const std::string& name, const YamlNode& node, const SourceNames& sources);

/// {provider, instance, device, accelerator, count, on_demand, reserved, spot, claimed, region, note, source}.
PriceEntry read_price_entry(const YamlNode& node, const SourceNames& sources);

}  // namespace poolcast
