// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "scenarios/error.h"

/// Inside of the HDF5 reader and writer of traces; HDF5 itself is seen nowhere else in this folder.
namespace poolcast {

/// Owns an HDF5 id.
class H5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  H5Handle() = default;
  H5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  H5Handle(H5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  H5Handle& operator=(H5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~H5Handle() {
    if (id_ >= 0) close_(id_);
  }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// HDF5 prints a stack of errors on stderr unless it is told not to.
inline void quiet_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

namespace trace_h5 {

inline constexpr const char* kSchema = "poolcast.trace";
inline constexpr int kVersion = 1;
inline constexpr hsize_t kChunkRows = 65'536;

}  // namespace trace_h5
}  // namespace poolcast
