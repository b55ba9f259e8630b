// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scenarios/yaml.h"

/// JSON documents as sets of named scalars, so that two of them can be compared thing by thing.
namespace poolcast {

/// A YAML document as JSON; every scalar becomes text, as it is written.
nlohmann::ordered_json json_of(const YamlNode& node);

/// A scalar that is in one document and not, or not with this value, in another.
struct Change {
  std::string path;  ///< "pools[mi300].price.reserved"; an entry of a list goes by what names it, else by its place
  std::string was;   ///< JSON text without the quotes of a string; "-" where there was none
  std::string is;    ///< the same

  std::string text() const;  ///< "PATH: WAS -> IS"
};

/// In the order of `was`, then what only `is` has.
std::vector<Change> changes(const nlohmann::ordered_json& was, const nlohmann::ordered_json& is);

}  // namespace poolcast
