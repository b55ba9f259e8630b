// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

/// What the program says about a command line that it does not understand.
namespace poolcast {

/// Throws ConfigError with the nearest spelling when a word stands where a command must and is none.
void check_command_words(const CLI::App& app, const std::vector<std::string>& arguments);

/// The message for what CLI11 found wrong, with the nearest spelling of an unknown option and where to find help.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace poolcast
