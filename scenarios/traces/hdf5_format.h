// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/hdf5_handle.h"

/// What the HDF5 reader and writer of traces agree on.
namespace poolcast {

/// HDF5 prints a stack of errors on stderr unless it is told not to.
inline void quiet_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

namespace trace_h5 {

inline constexpr const char* kSchema = "poolcast.trace";
inline constexpr int kVersion = 1;
inline constexpr hsize_t kChunkRows = 65'536;

}  // namespace trace_h5
}  // namespace poolcast
