// SPDX-License-Identifier: Apache-2.0
#include "tools/isolated.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "scenarios/error.h"

namespace poolcast {
namespace {

constexpr const char* kSelf = "/proc/self/exe";
constexpr int kCouldNotStart = 127;

bool limit(int resource, std::int64_t value, std::int64_t hard) {
  const rlimit bounds{static_cast<rlim_t>(value), static_cast<rlim_t>(hard)};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &bounds) == 0;
}

/// In the child, between fork and exec: system calls only. It ends with its parent.
[[noreturn]] void become(char* const* words, const IsolationLimits& limits, pid_t parent) {
  char locale[] = "LC_ALL=C";
  char* environment[] = {locale, nullptr};
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(kCouldNotStart);
  bool ready = nothing >= 0 && ::dup2(nothing, STDIN_FILENO) == STDIN_FILENO;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGXCPU}) ::signal(signal, SIG_DFL);
  ::alarm(static_cast<unsigned>(10 * limits.cpu_seconds));
  // One more second before the limit that cannot be caught.
  ready = ready && limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1) &&
          limit(RLIMIT_AS, limits.bytes, limits.bytes) && limit(RLIMIT_CORE, 0, 0) &&
          ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
  if (ready) ::execve(kSelf, words, environment);
  ::_exit(kCouldNotStart);
}

std::string why(int signal, const IsolationLimits& limits) {
  switch (signal) {
    case SIGXCPU:
    case SIGKILL:
      return fmt::format("it used more than {} s of CPU time", limits.cpu_seconds);
    case SIGALRM:
      return fmt::format("it took more than {} s", 10 * limits.cpu_seconds);
    default:
      return fmt::format("it died by {}", ::strsignal(signal));
  }
}

}  // namespace

IsolatedEnd run_isolated(const std::vector<std::string>& arguments, const IsolationLimits& limits) {
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(words.data(), limits, parent);
  if (child < 0) throw ConfigError(fmt::format("poolcast: cannot start a process: {}", std::strerror(errno)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw ConfigError(fmt::format("poolcast: cannot wait for a process: {}", std::strerror(errno)));
  }
  if (WIFSIGNALED(status)) return {-1, why(WTERMSIG(status), limits)};
  if (WEXITSTATUS(status) == kCouldNotStart) {
    throw ConfigError(fmt::format("poolcast: cannot start {} with these limits", kSelf));
  }
  return {WEXITSTATUS(status), {}};
}

}  // namespace poolcast
