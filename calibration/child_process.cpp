// SPDX-License-Identifier: Apache-2.0
#include "calibration/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

namespace poolcast::calibration {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

constexpr std::size_t kLongestLine = 64U << 20U;

/// False when the time is over.
bool wait_for(int socket, short event, Clock::time_point end) {
  while (true) {
    const double left_s = std::chrono::duration<double>(end - Clock::now()).count();
    if (left_s <= 0) return false;
    pollfd wait{socket, event, 0};
    if (::poll(&wait, 1, static_cast<int>(left_s * 1e3) + 1) > 0) return true;
  }
}

[[noreturn]] void become(char* const* words, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);  // a group of its own, so that what it starts can be ended with it
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  ::dup2(socket, STDIN_FILENO);
  ::dup2(socket, STDOUT_FILENO);
  ::execvp(words[0], words);
  ::_exit(127);
}

/// Waits until nobody holds the other end of the pipe, which the process that forked this one does while it lives.
[[noreturn]] void guard(pid_t group, int pipe) {
  ::setpgid(0, 0);  // no Ctrl-C
  for (int fd = 0; fd < 1024; ++fd) {
    if (fd != pipe) ::close(fd);
  }
  char byte = 0;
  while (::read(pipe, &byte, 1) < 0 && errno == EINTR) {
  }
  ::kill(-group, SIGKILL);
  ::_exit(0);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  child_ = ::fork();
  if (child_ == 0) become(words.data(), ends[1]);
  ::close(ends[1]);
  socket_ = ends[0];
  ::setpgid(child_, child_);
  if (child_ < 0 || ::pipe2(ends, O_CLOEXEC) != 0) return;
  guard_ = ::fork();
  if (guard_ == 0) guard(child_, ends[0]);
  ::close(ends[0]);
  alive_ = ends[1];
}

void ChildProcess::end_guard() {
  if (guard_ > 0) {
    ::kill(guard_, SIGKILL);
    ::waitpid(guard_, nullptr, 0);
  }
  if (alive_ >= 0) ::close(alive_);
  guard_ = alive_ = -1;
}

ChildProcess::~ChildProcess() {
  if (child_ > 0 && ending_.empty()) {
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);  // before it made its group
    end_guard();
    ::waitpid(child_, nullptr, 0);
  }
  end_guard();
  if (socket_ >= 0) ::close(socket_);  // last: it would complain of a lost reader
}

bool ChildProcess::send(const std::string& line, double timeout_s) {
  const std::string bytes = line + "\n";
  const Clock::time_point end = after(timeout_s);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    if (errno != EINTR && errno != EAGAIN) return false;
    if (errno == EAGAIN && !wait_for(socket_, POLLOUT, end)) return false;
  }
  return true;
}

bool ChildProcess::has_output() const {
  char byte = 0;
  return !buffer_.empty() || ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

ChildProcess::Wait ChildProcess::receive(double timeout_s, std::string& line) {
  const Clock::time_point end = after(timeout_s);
  for (std::size_t looked = 0;;) {
    if (const std::size_t at = buffer_.find('\n', looked); at != std::string::npos) {
      line = buffer_.substr(0, at);
      buffer_.erase(0, at + 1);
      return Wait::kLine;
    }
    looked = buffer_.size();
    if (looked > kLongestLine) return Wait::kTooLong;
    if (!wait_for(socket_, POLLIN, end)) return Wait::kTimeout;
    std::array<char, 65536> bytes{};
    const ssize_t n = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Wait::kEnded;
    buffer_.append(bytes.data(), static_cast<std::size_t>(n));
  }
}

std::string ChildProcess::ending() {
  if (child_ <= 0) return "not started";
  // A program that closed its output may need a moment to end.
  for (int tries = 0; ending_.empty() && tries < 100; ++tries) {
    int status = 0;
    if (::waitpid(child_, &status, WNOHANG) != child_) {
      ::usleep(2000);
      continue;
    }
    ending_ = WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                                : fmt::format("signal {}", WTERMSIG(status));
    end_guard();
    ::kill(-child_, SIGKILL);  // what it started
  }
  return ending_;
}

}  // namespace poolcast::calibration
