// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <utility>

/// Inside of the readers and writers of HDF5 files.
namespace poolcast {

/// Owns an HDF5 identifier: gives it back by the function that it was made with.
class H5Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  H5Handle() = default;
  H5Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  H5Handle(H5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  H5Handle& operator=(H5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  ~H5Handle() { close(); }

  operator hid_t() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Negative when HDF5 says that something went wrong, such as a full disk.
  herr_t close() { return id_ >= 0 ? closer_(std::exchange(id_, -1)) : 0; }

 private:
  hid_t id_ = -1;
  Closer closer_ = nullptr;
};

}  // namespace poolcast
