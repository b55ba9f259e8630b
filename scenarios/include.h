// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenarios/yaml.h"

namespace poolcast {

/// The document with the files that its `include:` names (one, or a list, relative to the file that holds it) joined
/// in, and theirs: `workload`, `models`, `pools` and `moves` are lists of all entries, included ones first; of every
/// other section that of the including file holds. A file that is named twice counts once. `set: {path.to.key: value}`
/// then changes single values, by paths as those of --set. Values keep their places, so that a fault in an included
/// file names that file and its line.
///
/// Throws ConfigError: a file that includes itself, that is no mapping or of another version, or two included files
/// that state the same section while the including file does not.
/// `files`, if not null, gets the path of every file that was joined in.
YamlNode join_includes(const YamlNode& document, std::vector<std::string>* files = nullptr);

/// The folder of the file that holds `node`, with its slash; `otherwise` for an option of the command line.
std::string folder_of(const YamlNode& node, const std::string& otherwise);

}  // namespace poolcast
