// SPDX-License-Identifier: Apache-2.0
#include "kernels/hip/device.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/cuda/emulation/emulation.h"

// A device whose memory is the host's, with a guard behind every piece.
namespace poolcast::hip {
namespace {

constexpr std::size_t kGuard = 256;
constexpr int kPattern = 0xa5;

}  // namespace

const std::string& why_no_device() {
  static const std::string none;
  return none;
}

const DeviceInfo& device() {
  static const DeviceInfo info = [] {
    DeviceInfo pretended;
    pretended.name = "emulation";
    pretended.architecture = "gfx90a";
    pretended.compute_units = 3;
    return pretended;
  }();
  return info;
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  const std::size_t room = (bytes + 2 * kGuard) / kGuard * kGuard;
  data_ = std::aligned_alloc(kGuard, room);
  std::memset(data_, kPattern, room);
}
DeviceBuffer::~DeviceBuffer() {
  if (data_ == nullptr) return;
  for (std::size_t i = 0; i < kGuard; ++i)
    if (static_cast<unsigned char*>(data_)[bytes_ + i] != kPattern)
      emulation::fault("something was written behind a buffer");
  std::free(data_);
}
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
void DeviceBuffer::upload(const void* host) const { std::memcpy(data_, host, bytes_); }
void DeviceBuffer::download(void* host) const { std::memcpy(host, data_, bytes_); }

EventTimer::EventTimer() = default;
EventTimer::~EventTimer() = default;
void EventTimer::start() { end_ = begin_; }
Seconds EventTimer::stop() { return Seconds(0); }
void check_launch() {}
void flush_caches() {}

}  // namespace poolcast::hip
