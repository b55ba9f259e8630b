// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/yaml.h"

namespace poolcast {

/// `text` as a YAML scalar: bare where that reads back as the same text, else in double quotes.
std::string yaml_text(std::string_view text);
/// "[a, b]" from values that are YAML already.
std::string flow_list(const std::vector<std::string>& values);
/// A whole node in one line.
std::string flow_text(const YamlNode& node);

/// Writes block-style YAML. Values are YAML already (numbers, quantities, `yaml_text`).
class YamlWriter {
 public:
  void value(std::string_view key, std::string_view yaml);
  void text(std::string_view key, std::string_view text) { value(key, yaml_text(text)); }
  void comment(std::string_view text);
  void open(std::string_view key);  ///< a mapping or a list; a mapping must not stay empty
  void close() { --depth_; }
  void open_item();  ///< an entry of a list that is a mapping
  void close_item() { --depth_; }

  const std::string& result() const { return text_; }

 private:
  void indent();

  std::string text_;
  int depth_ = 0;
  bool after_dash_ = false;
};

}  // namespace poolcast
