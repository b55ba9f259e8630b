// SPDX-License-Identifier: Apache-2.0
#include "scenarios/yaml_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace poolcast {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// A narrow rule that is surely right: words of letters and digits with - . / $ % + inside, single blanks between.
bool reads_back_bare(std::string_view text) {
  if (text.empty() || !(is_word_character(text[0]) || text[0] == '/' || text[0] == '$' || text[0] == '.')) return false;
  if (text.back() == ' ' || text == "." || text == ".." || text == "...") return false;
  for (const char* word : {"null", "Null", "NULL", "true", "false", "none", "auto"}) {
    if (text == word) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_word_character(c) || c == '-' || c == '.' || c == '/' || c == '$' || c == '%' || c == '+' || c == ' ';
  });
}

}  // namespace

std::string yaml_text(std::string_view text) {
  if (reads_back_bare(text)) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else if (c == '\r')
      quoted += "\\r";
    else if (c == '\t')
      quoted += "\\t";
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string flow_list(const std::vector<std::string>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

std::string flow_text(const YamlNode& node) {
  switch (node.kind()) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      // Bare words such as true keep their meaning; text that was quoted stays text.
      return node.quoted() || !reads_back_bare("x" + node.text()) ? yaml_text(node.text()) : node.text();
    case YamlNode::Kind::kList: {
      std::vector<std::string> values;
      for (const YamlNode& item : node.items()) values.push_back(flow_text(item));
      return flow_list(values);
    }
    case YamlNode::Kind::kMapping: {
      std::vector<std::string> pairs;
      for (const auto& [key, value] : node.entries()) pairs.push_back(yaml_text(key) + ": " + flow_text(value));
      return fmt::format("{{{}}}", fmt::join(pairs, ", "));
    }
  }
  return {};
}

void YamlWriter::indent() {
  if (!after_dash_) text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  after_dash_ = false;
}

void YamlWriter::value(std::string_view key, std::string_view yaml) {
  indent();
  text_.append(yaml_text(key)).append(": ").append(yaml).append("\n");
}

void YamlWriter::comment(std::string_view text) {
  indent();
  text_.append("# ").append(text).append("\n");
}

void YamlWriter::open(std::string_view key) {
  indent();
  text_.append(yaml_text(key)).append(":\n");
  ++depth_;
}

void YamlWriter::open_item() {
  indent();
  text_.append("- ");
  after_dash_ = true;
  ++depth_;
}

}  // namespace poolcast
