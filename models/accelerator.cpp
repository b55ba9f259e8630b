// SPDX-License-Identifier: Apache-2.0
#include "models/accelerator.h"

#include <cstdlib>

#include "models/error.h"

namespace poolcast {
namespace {

template <class T>
T require(const Accelerator& accelerator, const Sourced<T>& figure, const std::string& what) {
  if (!figure.value) throw MissingFigure(accelerator.name, what, figure.note);
  return *figure.value;
}

}  // namespace

const Sourced<FlopsPerSecond>& Accelerator::peak_of(Precision precision) const {
  return peak[static_cast<std::size_t>(precision)];
}

FlopsPerSecond Accelerator::require_peak(Precision precision) const {
  return require(*this, peak_of(precision), std::string("peak ") + poolcast::name(precision) + " rate");
}

Bytes Accelerator::require_memory() const {
  return addressable_memory.value ? *addressable_memory.value : require(*this, memory, "memory");
}

BytesPerSecond Accelerator::require_memory_bandwidth() const {
  return require(*this, memory_bandwidth, "memory bandwidth");
}

Watts Accelerator::require_tdp() const { return require(*this, tdp, "thermal design power"); }

BytesPerSecond Accelerator::require_link_bandwidth() const {
  return require(*this, link_bandwidth, "scale-up link bandwidth");
}

const char* name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu:
      return "gpu";
    case DeviceKind::kTpu:
      return "tpu";
    case DeviceKind::kNpu:
      return "npu";
    case DeviceKind::kWafer:
      return "wafer";
    case DeviceKind::kCpu:
      return "cpu";
  }
  std::abort();
}

std::optional<DeviceKind> parse_device_kind(std::string_view word) {
  for (DeviceKind kind : kDeviceKinds) {
    if (word == name(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace poolcast
