// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/device.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/cuda/cublas.h"
#include "tests/cuda/emulation/emulation.h"
#include "tests/cuda/emulation/pretended.h"

// A device whose memory is the host's, with a guard behind every piece.
namespace poolcast::cuda {
namespace {

constexpr std::size_t kGuard = 256;
constexpr int kPattern = 0xa5;
DeviceInfo pretended;

}  // namespace

void pretend(int major, int multiprocessors) {
  pretended.name = "emulation";
  pretended.major = major;
  pretended.multiprocessors = multiprocessors;
}

const std::string& why_no_device() {
  static const std::string none;
  return none;
}
int device_count() { return kPretendedDevices; }
const DeviceInfo& device() { return pretended; }

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  data_ = std::aligned_alloc(256, (bytes + 2 * kGuard) / kGuard * kGuard);
  std::memset(data_, kPattern, (bytes + 2 * kGuard) / kGuard * kGuard);
}
DeviceBuffer::DeviceBuffer(const void* host, std::size_t bytes) : DeviceBuffer(bytes) { upload(host); }
DeviceBuffer::~DeviceBuffer() {
  if (data_ == nullptr) return;
  for (std::size_t i = 0; i < kGuard; ++i)
    if (static_cast<unsigned char*>(data_)[bytes_ + i] != kPattern)
      emulation::fault("something was written behind a buffer");
  std::free(data_);
}
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
void DeviceBuffer::upload(const void* host) const { std::memcpy(data_, host, bytes_); }
void DeviceBuffer::download(void* host) const { std::memcpy(host, data_, bytes_); }

EventTimer::EventTimer() : begin_(nullptr), end_(nullptr) {}
EventTimer::~EventTimer() = default;
void EventTimer::start() { end_ = begin_; }
Seconds EventTimer::stop() { return Seconds(0); }
void flush_l2() {}
void synchronize() {}
void set_device(int) {}
std::string enable_peers(int) { return ""; }

const std::string& why_no_cublas() {
  static const std::string why = "no cuBLAS in the emulation";
  return why;
}
void launch_cublas(const Product&, const std::vector<int>&, Stream) {}

}  // namespace poolcast::cuda
