// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "models/units.h"

/// AMD's first device: what it is, its memory, its clock. Errors of the runtime are std::runtime_error, lack of memory
/// is std::bad_alloc.
namespace poolcast::hip {

/// Empty where device 0 can be used; otherwise the runtime's own reason. Asked once.
const std::string& why_no_device();

struct DeviceInfo {
  std::string name;
  std::string architecture;  // "gfx90a"
  int compute_units = 0;
  Bytes memory, l2;
};
const DeviceInfo& device();

/// Device memory, given back at the end.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  void* get() const { return data_; }
  void upload(const void* host) const;
  void download(void* host) const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Time between two points of the null stream, by events.
class EventTimer {
 public:
  EventTimer();
  ~EventTimer();
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;
  void start();
  Seconds stop();  ///< waits for the work in between

 private:
  void *begin_ = nullptr, *end_ = nullptr;
};

/// Throws what went wrong with the last launch.
void check_launch();
/// Writes 512 MiB, more than any cache there is (256 MiB on MI300).
void flush_caches();

}  // namespace poolcast::hip
