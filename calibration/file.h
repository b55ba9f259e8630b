// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibration/records.h"

namespace poolcast::calibration {

/// Writes the whole calibration under a temporary name and renames it. Throws FileError.
void save(const Calibration& calibration, const std::string& path);

/// Throws ConfigError when the file is no calibration, of another schema version, cut short, damaged or inconsistent.
Calibration load(const std::string& path);

/// Held while a device is measured: two measurements at once would slow each other down. Given back by the system when
/// the process ends, however it ends.
class DeviceLock {
 public:
  /// Throws ConfigError naming the device when another process of this machine holds it.
  explicit DeviceLock(const std::string& device);
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace poolcast::calibration
