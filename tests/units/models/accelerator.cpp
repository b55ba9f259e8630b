// SPDX-License-Identifier: Apache-2.0
#include "models/accelerator.h"

#include <catch2/catch.hpp>

#include "models/error.h"

namespace poolcast {
namespace {

TEST_CASE("names of precisions and device kinds read back") {
  for (Precision precision : kPrecisions) CHECK(parse_precision(name(precision)) == precision);
  CHECK_FALSE(parse_precision("fp16x"));
  for (DeviceKind kind : kDeviceKinds) {
    CHECK(parse_device_kind(name(kind)) == kind);
  }
  CHECK_FALSE(parse_device_kind("abacus"));
  CHECK(bytes_per_element(Precision::kBf16) == 2);
  CHECK(bytes_per_element(Precision::kFp8) == 1);
  CHECK(bytes_per_element(Precision::kInt8) == 1);
  CHECK(bytes_per_element(Precision::kFp4) == 0.5);
}

TEST_CASE("each figure is looked up by its own name and missed by it") {
  Accelerator accelerator;
  accelerator.name = std::string("x1");
  const auto message = [&](auto figure) -> std::string {
    try {
      figure();
    } catch (const MissingFigure& error) {
      return error.what();
    }
    return "";
  };
  const std::string tail = " of x1 is missing: no source states it; a scenario may state it itself";
  CHECK(message([&] { (void)accelerator.require_peak(Precision::kFp4); }) == "peak fp4 rate" + tail);
  CHECK(message([&] { (void)accelerator.require_memory(); }) == "memory" + tail);
  CHECK(message([&] { (void)accelerator.require_memory_bandwidth(); }) == "memory bandwidth" + tail);
  CHECK(message([&] { (void)accelerator.require_tdp(); }) == "thermal design power" + tail);
  CHECK(message([&] { (void)accelerator.require_link_bandwidth(); }) == "scale-up link bandwidth" + tail);
  accelerator.peak[static_cast<std::size_t>(Precision::kFp4)].value = FlopsPerSecond(4);
  accelerator.tdp.value = Watts(5);
  CHECK(accelerator.require_peak(Precision::kFp4).value == 4);
  CHECK(accelerator.require_tdp().value == 5);
}

TEST_CASE("memory that a driver reports is preferred to the datasheet's") {
  Accelerator accelerator;
  accelerator.memory.value = Bytes(80e9);
  CHECK(accelerator.require_memory().value == 80e9);
  accelerator.addressable_memory.value = Bytes(85e9);
  CHECK(accelerator.require_memory().value == 85e9);
}

}  // namespace
}  // namespace poolcast
