// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "scenarios/traces/trace.h"

namespace poolcast {

/// Writes rows as one of poolcast's own formats (kCsv, kJsonl, kHdf5), described in scenarios/traces.md. The file
/// appears whole with `close`, or not at all; a name that ends in .gz is packed (not HDF5). The same rows give the same
/// bytes. Memory is constant. Every function throws FileError when the file cannot be written.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  virtual void write(const TraceRow& row) = 0;
  virtual void close() = 0;
  /// Rows whose hash_ids could not be kept, and those whose after_session could not: CSV has no place for them.
  virtual std::uint64_t lost_hash_ids() const { return 0; }
  virtual std::uint64_t lost_callers() const { return 0; }
};

/// `block_tokens` is that of the rows' hash_ids; 0 when they have none.
std::unique_ptr<TraceWriter> make_trace_writer(const std::string& path, TraceFormat format, std::int64_t block_tokens);

/// The format that a file name asks for: .csv, .jsonl, .h5 or .hdf5, also with .gz behind the first two; kAuto for
/// another name.
TraceFormat format_of_name(const std::string& path);

}  // namespace poolcast
