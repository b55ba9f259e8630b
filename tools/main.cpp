// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "scenarios/atomic_file.h"
#include "scenarios/error.h"
#include "scenarios/printable.h"
#include "sim/laws.h"
#include "tools/commands.h"
#include "tools/usage.h"

namespace poolcast {
namespace {

// Exit statuses of design §14; 1, "the answer is no", is set by the commands themselves.
constexpr int kBadInput = 2;
constexpr int kBrokenLaw = 3;

void clean_up_and_leave(int signal) {
  remove_unfinished_files();
  ::_exit(128 + signal);
}

/// An interrupted program leaves no half files. A signal that the parent had ignored (nohup) stays ignored. A closed
/// pipe and a limit on file sizes are errors of write(2), told like any other, and not a silent death.
void set_up_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, clean_up_and_leave) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

void add_commands(CLI::App& app, int& status) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "poolcast " POOLCAST_VERSION);
  add_run(app, status);
  add_check(app, status);
  add_trace(app, status);
  add_catalog(app, status);
  add_live(app, status);
  add_policy(app, status);
  add_compare(app, status);
  add_qualify(app, status);
  add_explain(app, status);
  add_devices(app, status);
  add_kernels(app, status);
  add_calibrate(app, status);
  add_fit(app, status);
  add_validate(app, status);
  add_import(app, status);
  add_runner(app, status);
}

int parse_and_run(CLI::App& app, const std::vector<std::string>& arguments, int& status) {
  try {
    check_command_words(app, arguments);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // the order that CLI11 takes a vector in
    app.parse(std::move(reversed));
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    throw ConfigError(usage_message(app, error));
  }
  print("");  // tells whether stdout took everything
  return status;
}

int report(int status, std::string_view message) {
  fmt::print(stderr, "{}\n", message);
  return status;
}

int guarded(const std::vector<std::string>& arguments) {
  int status = 0;
  CLI::App app("Replays request traces against modelled pools of unlike accelerators.", "poolcast");
  try {
    add_commands(app, status);
    return parse_and_run(app, arguments, status);
  } catch (const ConfigError& error) {
    return report(kBadInput, error.what());
  } catch (const std::range_error& error) {
    return report(kBadInput, fmt::format("poolcast: {}: shorten its steps or its load", error.what()));
  } catch (const std::bad_alloc&) {
    return report(kBadInput, "poolcast: out of memory");
  } catch (const BrokenLaw& error) {
    return report(kBrokenLaw, fmt::format("poolcast: a law of the simulator is broken: {}", error.what()));
  } catch (const std::exception& error) {
    return report(kBrokenLaw, fmt::format("poolcast: internal fault: {}", error.what()));
  }
}

}  // namespace

void print(std::string_view raw) {
  const std::string text = printable(raw, "\n\t");
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw ConfigError(fmt::format("stdout: cannot write: {}", std::strerror(errno)));
  }
}

}  // namespace poolcast

int main(int argc, char** argv) {
  poolcast::set_up_signals();
  const int status = poolcast::guarded({argv + 1, argv + argc});
  // After an error the exit handlers are left out: that of HDF5 crashes when one of its files could not be closed.
  std::fflush(nullptr);
  if (status != 0) std::_Exit(status);
  return 0;
}
