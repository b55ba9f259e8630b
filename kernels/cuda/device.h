// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/cuda/tensor_map.h"
#include "models/units.h"

/// NVIDIA devices of this machine, their memory and their clocks. Nothing here needs a driver to link or to start:
/// without one, why_no_device says so. Errors of the runtime are std::runtime_error, lack of memory is std::bad_alloc.
namespace poolcast::cuda {

/// Empty where device 0 can be used; otherwise the runtime's own reason. Asked once.
const std::string& why_no_device();
int device_count();

struct DeviceInfo {
  std::string name;  // "NVIDIA H200"
  int major = 0;     // compute capability, 9.0 for Hopper
  int minor = 0;
  int multiprocessors = 0;
  double clock_hz = 0;  // highest clock of the multiprocessors
  double memory_clock_hz = 0;
  int memory_bus_bits = 0;
  Bytes memory, l2;
  Bytes shared_per_block;  // that a kernel may ask for
  std::string driver;      // highest CUDA version that the driver knows, "13.0"
  std::string runtime;     // version compiled in
};
/// Of device 0; only where why_no_device is empty.
const DeviceInfo& device();

/// Device memory of the current device, given back at the end.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes);
  DeviceBuffer(const void* host, std::size_t bytes);  ///< a copy of it
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  void* get() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }
  void upload(const void* host) const;  ///< all bytes
  void download(void* host) const;      ///< all bytes; waits for the device

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Time between two points of the default stream, by events: resolution about 0.5 us.
class EventTimer {
 public:
  EventTimer();
  ~EventTimer();
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;
  void start();
  Seconds stop();  ///< waits for the work in between

 private:
  void *begin_, *end_;
};

/// Writes three times the L2 cache, so that nothing read before is left in it.
void flush_l2();
void synchronize();
void set_device(int index);
/// Lets every pair of the first `count` devices read each other's memory; what stands in the way, or empty.
std::string enable_peers(int count);

}  // namespace poolcast::cuda
