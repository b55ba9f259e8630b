// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibration/records.h"

namespace poolcast::calibration {

/// Writes the whole calibration under a temporary name and renames it. Throws FileError.
void save(const Calibration& calibration, const std::string& path);

/// Throws ConfigError when the file is no calibration, of another schema version, cut short, damaged or inconsistent.
Calibration load(const std::string& path);

/// Held by one process of this machine at a time; given back by the system when it ends, however it ends. The files
/// that stand for locks lie in the folder for temporary files.
class Lock {
 public:
  /// Of what is measured: two measurements at once would slow each other down. Throws ConfigError naming `device`.
  static Lock of_hardware(const std::string& hardware, const std::string& device);
  /// Of a calibration that is written: who saves last would wipe out what the other one saved. Throws ConfigError.
  static Lock of_file(const std::string& path);

  ~Lock();
  Lock(Lock&& other) noexcept : file_(other.file_) { other.file_ = -1; }
  Lock& operator=(Lock&&) = delete;

 private:
  Lock(std::string name, const std::string& refusal);

  int file_ = -1;
};

}  // namespace poolcast::calibration
