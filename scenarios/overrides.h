// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/yaml.h"

namespace poolcast {

/// Returns `document` with one value replaced, as the option `--set path.to.key=value` asks.
///
/// The path goes down keys with dots. An entry of a list is named by its index (`pools[0].replicas`) or by its name
/// (`pools.nvidia.replicas`; an implementation by its pool), and the entry of a list of one may be left out
/// (`workload.trace.file`). A key that is not there yet is made; the reader of the document then judges it, so a path
/// to an unknown key is an error there. A short form (`trace: FILE`, `curves: roofline`, `accelerator: NAME`, `warm_up:
/// 60 s`, `prompt_tokens: 512`, …) is spelt out before a path goes below it, and a value replaces the ones that cannot
/// stand beside it (`workload.trace.file` replaces `synth`). The value is YAML.
///
/// Throws ConfigError; messages name the option in place of the file.
YamlNode apply_override(const YamlNode& document, const std::string& setting);

/// The same for a value of a file; messages point at it.
YamlNode apply_override(const YamlNode& document, const std::string& path, const YamlNode& value);

}  // namespace poolcast
