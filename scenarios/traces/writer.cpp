// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/writer.h"

#include <cstdlib>
#include <string_view>

#include "scenarios/traces/writers.h"

namespace poolcast {

std::unique_ptr<TraceWriter> make_trace_writer(const std::string& path, TraceFormat format, std::int64_t block_tokens) {
  switch (format) {
    case TraceFormat::kCsv:
      return make_csv_writer(path);
    case TraceFormat::kJsonl:
      return make_jsonl_writer(path, block_tokens);
    case TraceFormat::kHdf5:
      return make_hdf5_writer(path, block_tokens);
    default:
      std::abort();  // the caller's fault: the others are only read
  }
}

TraceFormat format_of_name(const std::string& path) {
  const auto ends = [&](std::string_view end) {
    return path.size() > end.size() && std::string_view(path).substr(path.size() - end.size()) == end;
  };
  if (ends(".csv") || ends(".csv.gz")) return TraceFormat::kCsv;
  if (ends(".jsonl") || ends(".jsonl.gz")) return TraceFormat::kJsonl;
  if (ends(".h5") || ends(".hdf5")) return TraceFormat::kHdf5;
  return TraceFormat::kAuto;
}

}  // namespace poolcast
