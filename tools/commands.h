// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace CLI {
class App;
}

/// The subcommands of the program, each in the file of its name. A function adds its command to `app`; the command sets
/// `status` when the answer is no (design §14: 1), and throws ConfigError for bad input (2).
namespace poolcast {

void add_run(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_trace(CLI::App& app, int& status);
void add_catalog(CLI::App& app, int& status);
void add_live(CLI::App& app, int& status);
void add_policy(CLI::App& app, int& status);
void add_compare(CLI::App& app, int& status);
void add_qualify(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_devices(CLI::App& app, int& status);
void add_kernels(CLI::App& app, int& status);
void add_calibrate(CLI::App& app, int& status);
void add_fit(CLI::App& app, int& status);
void add_validate(CLI::App& app, int& status);
void add_import(CLI::App& app, int& status);
void add_runner(CLI::App& app, int& status);

/// Writes to stdout; control characters, which names and messages from files may hold, are spelt out. Throws
/// ConfigError when it cannot be written (closed pipe, full disk).
void print(std::string_view text);

}  // namespace poolcast
