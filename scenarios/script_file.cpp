// SPDX-License-Identifier: Apache-2.0
#include "scenarios/script_file.h"

#include <algorithm>
#include <optional>

#include "scenarios/load_parts.h"

namespace poolcast {
namespace {

std::optional<YamlNode> file_of(const YamlNode& plugin) {
  const auto type = plugin.find("type"), parameters = plugin.find("parameters");
  if (!type || !type->is_scalar() || type->text().substr(0, 4) != "lua-" || !parameters) return std::nullopt;
  return parameters->find("file");
}

}  // namespace

void inline_script(const YamlNode& plugin, routing::Value& parameters) {
  const auto file = file_of(plugin);
  if (!file) return;
  if (parameters.find("script") != nullptr)
    file->fail("stands beside \"script\", and only one of them can be the rule");
  const std::string from = file->location().file;
  const std::string path = find_file(*file, from.substr(0, from.rfind('/') + 1));
  const auto place = std::find(parameters.keys.begin(), parameters.keys.end(), "file") - parameters.keys.begin();
  parameters.keys[static_cast<std::size_t>(place)] = "script";
  parameters.items[static_cast<std::size_t>(place)] = routing::text_value(read_text_file(path));
}

routing::ParameterFault in_script_file(const YamlNode& plugin, routing::ParameterFault fault) {
  const auto file = file_of(plugin);
  if (!file || fault.path != std::vector<std::string>{"script"}) return fault;
  const std::string message = fault.what();
  const std::string told = message.rfind("script:", 0) == 0 ? file->text() + message.substr(6) : message;
  return {{"file"}, told, fault.allowed};
}

}  // namespace poolcast
