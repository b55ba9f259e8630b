// SPDX-License-Identifier: Apache-2.0
#include "tools/usage.h"

#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "scenarios/error.h"

namespace poolcast {
namespace {

using Subcommands = std::vector<const CLI::App*>;

Subcommands subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find(const Subcommands& commands, std::string_view word) {
  for (const CLI::App* command : commands) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

/// "poolcast trace stats", of the command that the parser reached.
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

const CLI::App& reached(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : reached(*parsed.back());
}

/// Whether it does something itself with a word that names none of its commands.
bool takes_words(const CLI::App& app) {
  return !app.get_options([](const CLI::Option* option) { return option->get_positional(); }).empty();
}

/// "; one of run, check".
std::string one_of(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : subcommands_of(app)) text += (text.empty() ? "; one of " : ", ") + command->get_name();
  return text;
}

std::string unknown_argument(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> rest = app.remaining(true);  // those that the commands did not take, too
  std::vector<std::string> owned;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) owned.push_back("--" + name);
  }
  for (const std::string& word : rest) {
    if (word.substr(0, 1) != "-") continue;
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option {}{}", quote(name), suggestion(name, {owned.begin(), owned.end()}));
  }
  return rest.empty() ? "an argument too many" : fmt::format("unexpected argument {}", quote(rest.front()));
}

}  // namespace

void check_command_words(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  for (const std::string& word : arguments) {
    const Subcommands commands = subcommands_of(*command);
    if (commands.empty() || word.substr(0, 1) == "-") return;
    std::vector<std::string> names;
    for (const CLI::App* each : commands) names.push_back(each->get_name());
    const CLI::App* next = find(commands, word);
    if (next == nullptr && takes_words(*command)) return;
    if (next == nullptr) {
      throw ConfigError(fmt::format("{}: unknown command {}{}", full_name(*command), quote(word),
                                    suggestion(word, {names.begin(), names.end()})));
    }
    command = next;
  }
  if (!subcommands_of(*command).empty() && !takes_words(*command))
    throw ConfigError(full_name(*command) + ": no command" + one_of(*command));
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = reached(app);
  const bool unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  std::string what = unknown ? unknown_argument(app, command) : std::string(error.what());
  while (!what.empty() && what.back() == '\n') what.pop_back();
  const std::string name = full_name(command);
  return fmt::format("{}: {}\n`{} --help` shows how it is called", name, what, name);
}

}  // namespace poolcast
