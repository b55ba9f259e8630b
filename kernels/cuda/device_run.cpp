// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/device_run.h"

#include <limits>

namespace poolcast::cuda {

void* DeviceRun::input(const void* host, std::size_t bytes) {
  buffers_.emplace_back(host, bytes);
  return buffers_.back().get();
}

void* DeviceRun::output(void* host, std::size_t bytes) {
  outputs_.push_back({host, buffers_.size()});
  return input(host, bytes);
}

void* DeviceRun::scratch(std::size_t bytes) {
  buffers_.emplace_back(bytes);
  return buffers_.back().get();
}

void DeviceRun::upload_outputs() const {
  for (const Output& one : outputs_) buffers_[one.buffer].upload(one.host);
}

void DeviceRun::download_outputs() const {
  for (const Output& one : outputs_) buffers_[one.buffer].download(one.host);
}

ElementKind kind_of(kernels::DType dtype) {
  switch (dtype) {
    case kernels::DType::kBf16:
      return ElementKind::kBf16;
    case kernels::DType::kInt8:
      return ElementKind::kInt8;
    case kernels::DType::kFp32:
      break;
  }
  return ElementKind::kFp32;
}

int output_bytes(kernels::DType dtype) { return dtype == kernels::DType::kBf16 ? 2 : 4; }

std::string why_not_here(const kernels::KernelProblem& problem) {
  if (!why_no_device().empty()) return why_no_device();
  for (const kernels::Dim& dim : problem.shape) {
    if (dim.value > std::numeric_limits<int>::max()) return dim.name + " is greater than 2^31 - 1";
  }
  return "";
}

std::string why_not_on(int major, int minor, const kernels::KernelProblem& problem) {
  std::string why = why_not_here(problem);
  if (!why.empty() || (device().major == major && device().minor == minor)) return why;
  return "needs compute capability " + std::to_string(major) + '.' + std::to_string(minor) + ", " + device().name +
         " has " + std::to_string(device().major) + '.' + std::to_string(device().minor);
}

}  // namespace poolcast::cuda
