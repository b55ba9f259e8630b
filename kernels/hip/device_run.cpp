// SPDX-License-Identifier: Apache-2.0
#include "kernels/hip/device_run.h"

#include <limits>

namespace poolcast::hip {

void* DeviceRun::input(const void* host, std::int64_t bytes) {
  void* copy = scratch(bytes);
  buffers_.back().upload(host);
  return copy;
}

void* DeviceRun::output(void* host, std::int64_t bytes) {
  outputs_.push_back({host, buffers_.size()});
  return input(host, bytes);
}

void* DeviceRun::scratch(std::int64_t bytes) {
  buffers_.emplace_back(static_cast<std::size_t>(bytes));
  return buffers_.back().get();
}

void DeviceRun::upload_outputs() const {
  for (const Output& output : outputs_) buffers_[output.buffer].upload(output.host);
}

void DeviceRun::download_outputs() const {
  for (const Output& output : outputs_) buffers_[output.buffer].download(output.host);
}

std::string why_not_here(const kernels::KernelProblem& problem) {
  if (!why_no_device().empty()) return why_no_device();
  const std::string& of = device().architecture;
  if (of != "gfx90a" && of != "gfx940") return "built for gfx90a and gfx940, " + device().name + " is " + of;
  for (const kernels::Dim& dim : problem.shape) {
    if (dim.value > std::numeric_limits<int>::max()) return dim.name + " is greater than 2^31 - 1";
  }
  return "";
}

}  // namespace poolcast::hip
