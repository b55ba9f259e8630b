// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/device.h"

#include <cuda_runtime_api.h>

#include <new>
#include <utility>

#include "kernels/cuda/checked.cuh"

namespace poolcast::cuda {
namespace {

std::string version(int number) { return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10); }

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

DeviceInfo ask_device() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  DeviceInfo info;
  info.name = properties.name;
  info.major = properties.major;
  info.minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.clock_hz = attribute(cudaDevAttrClockRate) * 1e3;
  info.memory_clock_hz = attribute(cudaDevAttrMemoryClockRate) * 1e3;
  info.memory_bus_bits = properties.memoryBusWidth;
  info.memory = Bytes(static_cast<double>(properties.totalGlobalMem));
  info.l2 = Bytes(properties.l2CacheSize);
  info.shared_per_block = Bytes(static_cast<double>(properties.sharedMemPerBlockOptin));
  info.driver = version(driver);
  info.runtime = version(runtime);
  return info;
}

std::string ask_why_no_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return std::string("no CUDA device: ") + cudaGetErrorString(status);
  return count > 0 ? "" : "no CUDA device";
}

}  // namespace

const std::string& why_no_device() {
  static const std::string why = ask_why_no_device();
  return why;
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

const DeviceInfo& device() {
  static const DeviceInfo info = ask_device();
  return info;
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  const cudaError_t status = cudaMalloc(&data_, bytes == 0 ? 1 : bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears it
    throw std::bad_alloc();
  }
  check(status);
}

DeviceBuffer::DeviceBuffer(const void* host, std::size_t bytes) : DeviceBuffer(bytes) { upload(host); }
DeviceBuffer::~DeviceBuffer() { cudaFree(data_); }
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void DeviceBuffer::upload(const void* host) const { check(cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice)); }
void DeviceBuffer::download(void* host) const { check(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost)); }

EventTimer::EventTimer() {
  check(cudaEventCreate(reinterpret_cast<cudaEvent_t*>(&begin_)));
  check(cudaEventCreate(reinterpret_cast<cudaEvent_t*>(&end_)));
}

EventTimer::~EventTimer() {
  cudaEventDestroy(static_cast<cudaEvent_t>(begin_));
  cudaEventDestroy(static_cast<cudaEvent_t>(end_));
}

void EventTimer::start() { check(cudaEventRecord(static_cast<cudaEvent_t>(begin_))); }

Seconds EventTimer::stop() {
  check(cudaEventRecord(static_cast<cudaEvent_t>(end_)));
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(end_)));
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(begin_), static_cast<cudaEvent_t>(end_)));
  return Seconds(milliseconds * 1e-3);
}

void flush_l2() {
  static const DeviceBuffer scratch(static_cast<std::size_t>(device().l2.value) * 3);
  check(cudaMemset(scratch.get(), 0x5a, scratch.bytes()));
  synchronize();
}

void synchronize() { check(cudaDeviceSynchronize()); }
void set_device(int index) { check(cudaSetDevice(index)); }

std::string enable_peers(int count) {
  std::string why;
  for (int from = 0; from < count && why.empty(); ++from) {
    for (int to = 0; to < count && why.empty(); ++to) {
      int possible = from == to;
      if (from != to) check(cudaDeviceCanAccessPeer(&possible, from, to));
      if (!possible) why = "device " + std::to_string(from) + " cannot read the memory of device " + std::to_string(to);
      if (from == to || !possible) continue;
      check(cudaSetDevice(from));
      const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError();
      else
        check(status);
    }
  }
  check(cudaSetDevice(0));
  return why;
}

}  // namespace poolcast::cuda
