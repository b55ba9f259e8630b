// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

/// Runs the program as a user does. Needs POOLCAST_PROGRAM and POOLCAST_SOURCE_DIR.
namespace poolcast::testing {

struct Ran {
  int status = -1;  ///< exit status; 128 + the signal when one ended it
  std::string out;
  std::string err;
};

inline std::string program_path() { return POOLCAST_PROGRAM; }

/// A process that was started and is not yet waited for. Runs in the source folder, its streams in files.
class Process {
 public:
  /// `out`: where stdout goes instead of a file of its own, for example /dev/full.
  Process(const std::vector<std::string>& command, const std::string& out = {}) {
    out_ = out.empty() ? folder_.file("out") : out;
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    child_ = ::fork();
    if (child_ != 0) return;
    // A test run in the background may have inherited ignored signals, and would pass them on.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(folder_.file("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    if (::chdir(POOLCAST_SOURCE_DIR) == 0) ::execvp(words[0], words.data());
    ::_exit(126);
  }

  pid_t id() const { return child_; }

  Ran wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    Ran ran;
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (out_ == folder_.file("out")) ran.out = read_file(out_);
    ran.err = read_file(folder_.file("err"));
    return ran;
  }

 private:
  static void redirect(const char* path, int flags, int to) {
    const int from = ::open(path, flags, 0600);
    if (from < 0 || ::dup2(from, to) < 0) ::_exit(125);
    ::close(from);
  }

  TemporaryFolder folder_;
  std::string out_;
  pid_t child_ = -1;
};

inline std::vector<std::string> poolcast_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {program_path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

inline Ran run_program(const std::vector<std::string>& arguments) {
  return Process(poolcast_command(arguments)).wait();
}

}  // namespace poolcast::testing
