// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "models/precision.h"
#include "models/units.h"

namespace poolcast {

/// A figure with the place it was read from. Without a value it is missing: nobody stated it, and it is not guessed.
template <class T>
struct Sourced {
  std::optional<T> value;
  std::string source;
  std::string note;
};

enum class DeviceKind { kGpu, kTpu, kNpu, kWafer, kCpu };
inline constexpr std::array<DeviceKind, 5> kDeviceKinds = {DeviceKind::kGpu, DeviceKind::kTpu, DeviceKind::kNpu,
                                                           DeviceKind::kWafer, DeviceKind::kCpu};

/// The datasheet of one device (one chip, one GPU, one socket). All figures are per device; rates are dense peaks
/// (without structured sparsity).
struct Accelerator {
  std::string name;    ///< as a scenario spells it: "h100-sxm"
  std::string title;   ///< as its maker spells it
  std::string vendor;  ///< "nvidia"
  std::string family;  ///< devices that run the same kernels: "hopper"
  DeviceKind kind = DeviceKind::kGpu;

  std::array<Sourced<FlopsPerSecond>, kPrecisions.size()> peak;  ///< by Precision
  Sourced<Bytes> memory;                                         ///< as the datasheet prints it (mostly decimal GB)
  Sourced<Bytes> addressable_memory;  ///< what a driver reports, where known; preferred for KV arithmetic
  Sourced<BytesPerSecond> memory_bandwidth;
  Sourced<Watts> tdp;
  Sourced<BytesPerSecond> link_bandwidth;  ///< scale-up links of one device together, in one direction

  const Sourced<FlopsPerSecond>& peak_of(Precision precision) const;

  // The figures as numbers. Each throws MissingFigure when nobody stated it.
  FlopsPerSecond require_peak(Precision precision) const;
  Bytes require_memory() const;  ///< addressable where known, else the datasheet's
  BytesPerSecond require_memory_bandwidth() const;
  Watts require_tdp() const;
  BytesPerSecond require_link_bandwidth() const;
};

const char* name(DeviceKind kind);  ///< "gpu", "tpu", "npu", "wafer", "cpu"
std::optional<DeviceKind> parse_device_kind(std::string_view word);

}  // namespace poolcast
