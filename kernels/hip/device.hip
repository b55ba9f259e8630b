// SPDX-License-Identifier: Apache-2.0
#include "kernels/hip/device.h"

#include <hip/hip_runtime.h>

#include <new>
#include <stdexcept>
#include <utility>

namespace poolcast::hip {
namespace {

void check(hipError_t status) {
  if (status != hipSuccess) throw std::runtime_error(std::string("HIP: ") + hipGetErrorString(status));
}

std::string ask_why_no_device() {
  int count = 0;
  const hipError_t status = hipGetDeviceCount(&count);
  if (status != hipSuccess) return std::string("no HIP device: ") + hipGetErrorString(status);
  return count > 0 ? "" : "no HIP device";
}

DeviceInfo ask_device() {
  hipDeviceProp_t properties{};
  check(hipGetDeviceProperties(&properties, 0));
  DeviceInfo info;
  info.name = properties.name;
  info.architecture = std::string(properties.gcnArchName);
  info.architecture = info.architecture.substr(0, info.architecture.find(':'));
  info.compute_units = properties.multiProcessorCount;
  info.memory = Bytes(static_cast<double>(properties.totalGlobalMem));
  info.l2 = Bytes(properties.l2CacheSize);
  return info;
}

}  // namespace

const std::string& why_no_device() {
  static const std::string why = ask_why_no_device();
  return why;
}

const DeviceInfo& device() {
  static const DeviceInfo info = ask_device();
  return info;
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  const hipError_t status = hipMalloc(&data_, bytes == 0 ? 1 : bytes);
  if (status == hipErrorOutOfMemory) throw std::bad_alloc();
  check(status);
}
DeviceBuffer::~DeviceBuffer() { (void)hipFree(data_); }
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
void DeviceBuffer::upload(const void* host) const { check(hipMemcpy(data_, host, bytes_, hipMemcpyHostToDevice)); }
void DeviceBuffer::download(void* host) const { check(hipMemcpy(host, data_, bytes_, hipMemcpyDeviceToHost)); }

EventTimer::EventTimer() {
  check(hipEventCreate(reinterpret_cast<hipEvent_t*>(&begin_)));
  check(hipEventCreate(reinterpret_cast<hipEvent_t*>(&end_)));
}
EventTimer::~EventTimer() {
  (void)hipEventDestroy(static_cast<hipEvent_t>(begin_));
  (void)hipEventDestroy(static_cast<hipEvent_t>(end_));
}
void EventTimer::start() { check(hipEventRecord(static_cast<hipEvent_t>(begin_), nullptr)); }
Seconds EventTimer::stop() {
  check(hipEventRecord(static_cast<hipEvent_t>(end_), nullptr));
  check(hipEventSynchronize(static_cast<hipEvent_t>(end_)));
  float milliseconds = 0;
  check(hipEventElapsedTime(&milliseconds, static_cast<hipEvent_t>(begin_), static_cast<hipEvent_t>(end_)));
  return Seconds(milliseconds * 1e-3);
}

void check_launch() { check(hipGetLastError()); }

void flush_caches() {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  static const DeviceBuffer scratch(kBytes);
  check(hipMemset(scratch.get(), 0x5a, kBytes));
  check(hipDeviceSynchronize());
}

}  // namespace poolcast::hip
