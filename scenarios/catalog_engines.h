// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/catalog_read.h"

namespace poolcast {

/// The device that defaults are asked for.
struct EngineDevice {
  const Accelerator& accelerator;
  EngineUsage usage = EngineUsage::kApi;
  std::int64_t devices = 1;  ///< of one replica
};

/// The arguments of one engine version (a mapping of engines.yaml), resolved for one device. An argument is {default,
/// source, note, modelled}, {missing: why}, {derived: how, source}, or {by_device: cases, source}; a case is {kind,
/// only, except, min_memory, offline, api, per_device}, and the first whose conditions hold decides. Throws
/// ConfigError.
EngineDefaults read_engine_defaults(const std::string& kind, const std::string& version, const YamlNode& args,
                                    const SourceNames& sources, const EngineDevice& device);

}  // namespace poolcast
