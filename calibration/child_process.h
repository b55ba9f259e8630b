// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace poolcast::calibration {

/// A program with which lines are exchanged. It ends with this object, and with this process however that ends; so do
/// the programs that it started itself and left in its process group.
class ChildProcess {
 public:
  /// The first word is found as a shell would. A program that cannot be started looks like one that ended at once.
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// False when the program no longer reads, or did not read enough within the time.
  bool send(const std::string& line, double timeout_s);

  enum class Wait { kLine, kEnded, kTimeout, kTooLong };
  /// The next line without its end. A line of more than 64 MiB is given up (kTooLong).
  Wait receive(double timeout_s, std::string& line);

  /// Whether it printed something that was not received yet.
  bool has_output() const;

  /// How it ended ("exit status 3", "signal 11"), once it has; empty before.
  std::string ending();

 private:
  void end_guard();

  pid_t child_ = -1;
  pid_t guard_ = -1;  ///< ends the group when this process is gone
  int alive_ = -1;    ///< that the guard sees closed
  int socket_ = -1;
  std::string buffer_;
  std::string ending_;
};

}  // namespace poolcast::calibration
