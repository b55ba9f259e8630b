// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/endpoint_picker_config.h"
#include "scenarios/error.h"
#include "scenarios/load_gateway.h"
#include "scenarios/text_table.h"
#include "sim/policies/registry.h"
#include "sim/routing/aliases.h"
#include "sim/routing/registry.h"
#include "sim/routing/spellings.h"
#include "tools/commands.h"
#include "tools/policy_test.h"

/// `poolcast policy list [NAME]`: routing policies and the plugins of endpoint pickers.
namespace poolcast {
namespace {

std::string line(std::string_view what, const std::string& text) {
  return wrapped(fmt::format("  {:<29} ", what), text);
}

std::string overview() {
  std::string text = "Policies of the gateway and of pools\n";
  for (const PolicyInfo& policy : policy_table()) text += line(policy.name, std::string(policy.rule));
  text += "\nPolicies of the gateway alone\n";
  for (const GatewayPolicy& policy : gateway_policies()) text += line(policy.name, std::string(policy.rule));
  text += "\nPolicies of other products, for pools\n";
  for (const routing::PolicyAlias& alias : routing::policy_aliases()) {
    text += line(alias.name, fmt::format("{}: {}", alias.origin, alias.rule));
  }
  text += "\nPolicies of other products that are not modelled\n";
  for (const routing::MissingPolicy& policy : routing::missing_policies()) {
    text += line(policy.name, fmt::format("{}: {}", policy.origin, policy.why));
  }
  text += "\nOther spellings\n";
  for (const routing::PolicySpelling& other : routing::policy_spellings()) {
    text += line(other.spelling, fmt::format("{}: {}", other.origin, other.name));
  }
  text += "\nPlugins of endpoint pickers\n";
  for (const routing::PluginInfo& plugin : routing::plugin_table()) {
    text += line(plugin.type, fmt::format("{} ({}): {}", plugin.family, plugin.origin, plugin.rule));
  }
  text += "\nPlugins of llm-d that are not modelled\n";
  for (const routing::MissingPlugin& missing : routing::plugins_not_modelled()) {
    text += line(missing.type, std::string(missing.why));
  }
  return text + "\n`poolcast policy list NAME` shows a plugin's parameters or a policy's pipeline.\n";
}

std::string parameters_text(const std::vector<routing::ParameterInfo>& parameters) {
  std::string text;
  for (const routing::ParameterInfo& p : parameters) {
    std::string about(p.meaning);
    if (!p.allowed.empty()) about += fmt::format("; {}", p.allowed);
    about += p.standard.empty() ? "; no default" : fmt::format("; default {}", p.standard);
    text += line(p.name, about);
  }
  return text;
}

std::string plugin_text(const routing::PluginInfo& plugin) {
  std::string text = fmt::format("{}: {}, from {}\n", plugin.type, plugin.family, plugin.origin);
  text += wrapped("  ", std::string(plugin.rule));
  return text + (plugin.parameters.empty() ? "  no parameters\n" : parameters_text(plugin.parameters));
}

std::string entry(const std::string& given) {
  const std::string name(routing::policy_name(given));
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : policy_table()) {
    if (policy.name == name) return fmt::format("{}: {}\n", name, policy.rule);
    names.push_back(policy.name);
  }
  for (const GatewayPolicy& policy : gateway_policies()) {
    if (policy.name == name) return fmt::format("{}: {}\n", name, policy.rule);
    names.push_back(policy.name);
  }
  for (const routing::PolicyAlias& alias : routing::policy_aliases()) {
    if (alias.name == name) {
      return fmt::format("{}: from {}\n", name, alias.origin) + wrapped("  ", std::string(alias.rule)) +
             parameters_text(alias.parameters) + "config: " + endpoint_picker_text(alias.make()) + "\n";
    }
    names.push_back(alias.name);
  }
  for (const routing::PluginInfo& plugin : routing::plugin_table()) {
    if (plugin.type == name) return plugin_text(plugin);
    names.push_back(plugin.type);
  }
  if (const auto* missing = routing::find_missing_policy(name)) {
    return wrapped("", fmt::format("{}: from {}; not modelled: {}", name, missing->origin, missing->why));
  }
  if (const auto* missing = routing::find_missing_plugin(name)) {
    return wrapped("", fmt::format("{}: from llm-d; not modelled: {}", name, missing->why));
  }
  throw ConfigError(fmt::format("policy list: nothing is named {}{}", quote(name), suggestion(name, names)));
}

}  // namespace

void add_policy(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("policy", "Routing policies and the plugins of endpoint pickers: list them, test yours");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "Their rules, parameters, defaults and origins");
  const auto name = std::make_shared<std::string>();
  list->add_option("name", *name, "one policy or plugin");
  list->footer("Example:\n  poolcast policy list prefix-cache-scorer");
  add_policy_test(*command, status);
  list->callback([name] { print(name->empty() ? overview() : entry(*name)); });
}

}  // namespace poolcast
