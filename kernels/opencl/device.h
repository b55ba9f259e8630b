// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/units.h"

namespace poolcast::kernels {

/// The memory of one prepared kernel on the OpenCL device, its program and the arguments of its launch. Failures of the
/// device are std::runtime_error with the name of the call and its code.
class OpenClRun {
 public:
  OpenClRun();
  ~OpenClRun();
  OpenClRun(const OpenClRun&) = delete;
  OpenClRun& operator=(const OpenClRun&) = delete;

  /// Compiles source (after element.cl) with the options and takes the kernel of that name.
  void build(const char* source, const std::string& options, const std::string& kernel);

  // The next argument: a copy of host data, an output that is copied back to `host`, a number.
  void input(const void* host, std::int64_t bytes);
  void output(void* host, std::int64_t bytes);
  void number(std::int64_t value);  // int
  void number(float value);

  /// Items in all and in a group, in two dimensions.
  void range(std::int64_t x, std::int64_t y, std::int64_t group_x, std::int64_t group_y);

  /// Runs once and waits; what the device's own clock says that it took.
  Seconds launch();

  void upload_outputs();
  void download_outputs();

  /// Writes a buffer larger than the caches.
  void cool();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace poolcast::kernels
