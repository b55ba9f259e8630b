// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/yaml.h"

/// What a YamlNode points to. Only yaml*.cpp look inside.
namespace poolcast {

/// Where a value or key begins. Line and column count from 1.
struct YamlPlace {
  int line = 0;
  int column = 0;
};

struct YamlNode::Source {
  std::string name;
  std::string text;
  bool one_line = false;
};

struct YamlNode::Data {
  struct Entry {
    std::string key;  // empty in a list
    YamlPlace key_place;
    std::shared_ptr<const Source> key_source;
    std::shared_ptr<const Data> value;
  };

  Kind kind = Kind::kNull;
  std::string text;
  bool quoted = false;
  YamlPlace place;
  std::shared_ptr<const Source> source;
  std::vector<Entry> entries;
  std::uint64_t values = 1;  // this one and all below, aliases expanded

  const Entry* find(std::string_view key) const {
    for (const Entry& entry : entries) {
      if (kind == Kind::kMapping && entry.key == key) return &entry;
    }
    return nullptr;
  }

  static Location location(const std::shared_ptr<const Source>& source, YamlPlace place);
};

std::string_view kind_name(YamlNode::Kind kind);                         ///< "a list"
std::string joined_path(const std::string& path, std::string_view key);  ///< "pools[1].link"

}  // namespace poolcast
