// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/traces/trace.h"
#include "tests/support/temporary_folder.h"

/// Small traces for tests, and what comes out of them.
namespace poolcast::testing {

inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("zlib");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::vector<TraceRow> read_all(const TraceSpec& spec) {
  const auto reader = open_trace(spec);
  std::vector<TraceRow> rows;
  for (TraceRow row; reader->next(row);) rows.push_back(row);
  return rows;
}

/// The whole message of the ConfigError that reading this trace throws; empty when it throws none.
inline std::string error_of(const TraceSpec& spec) {
  try {
    read_all(spec);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

inline std::vector<Arrival> replay(Source& source) {
  std::vector<Arrival> arrivals;
  while (source.peek() != kNever) arrivals.push_back(source.pop());
  return arrivals;
}

/// A folder with one trace file, and a spec that reads it.
class TraceFile {
 public:
  explicit TraceFile(std::string_view content, const std::string& name = "trace") {
    spec.file = folder.file(name);
    write_file(spec.file, content);
  }

  TemporaryFolder folder;
  TraceSpec spec;
};

}  // namespace poolcast::testing
