// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "scenarios/error.h"
#include "scenarios/traces/lint.h"
#include "scenarios/traces/servegen_client.h"
#include "scenarios/traces/trace.h"

/// Any bytes, read as a trace of any text format: rows in order with at least one token each way, or a ConfigError.
/// Length tables of ServeGen are read too. The first byte chooses the format and what happens to bad rows; the rest is
/// the file. HDF5 is left out: its library promises nothing about damaged files.
namespace {

using namespace poolcast;

constexpr TraceFormat kFormats[] = {TraceFormat::kAuto,     TraceFormat::kAzure,   TraceFormat::kMooncake,
                                    TraceFormat::kBurstGpt, TraceFormat::kAgentic, TraceFormat::kCsv,
                                    TraceFormat::kJsonl};

/// A file in memory that can be opened by name.
struct MemoryFile {
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor(::memfd_create("trace", 0)) {
    if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { ::close(descriptor); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }
  int descriptor;
};

void read(const TraceSpec& spec) {
  const auto reader = open_trace(spec);
  double last = 0;
  for (TraceRow row; reader->next(row);) {
    if (!(row.timestamp.value >= last) || row.prompt_tokens < 1 || row.output_tokens < 1) std::abort();
    last = row.timestamp.value;
  }
}

void replay(const TraceSpec& spec) {
  const auto source = make_trace_source(spec, ClassId(0u), 0, 1, "fuzz");
  SimTime last = 0;
  while (source->peek() != kNever) {
    const Arrival arrival = source->pop();
    if (arrival.intended < last) std::abort();
    last = arrival.intended;
    if (!source->wants_feedback()) continue;
    RequestRecord record;
    record.row = arrival.row;
    record.ended = arrival.intended;
    source->finished(record);
  }
}

template <class Function>
void tolerate_config_errors(Function function) {
  try {
    function();
  } catch (const ConfigError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kHdf5 = "\x89HDF";
  if (size == 0 || std::string_view(reinterpret_cast<const char*>(data + 1), size - 1).substr(0, 4) == kHdf5) return 0;
  if ((data[0] & 15) == 15) {
    LengthTable().parse(std::string_view(reinterpret_cast<const char*>(data + 1), size - 1));
    return 0;
  }
  const MemoryFile file(data + 1, size - 1);
  TraceSpec spec;
  spec.file = file.path();
  spec.format = kFormats[(data[0] & 15) % std::size(kFormats)];
  spec.on_bad_row = (data[0] & 16) != 0 ? TraceSpec::BadRow::kStop : TraceSpec::BadRow::kSkip;
  spec.replay = (data[0] & 32) != 0 ? TraceSpec::Replay::kSessions : TraceSpec::Replay::kTimestamps;
  spec.spread = (data[0] & 64) != 0 ? TraceSpec::Spread::kUniform : TraceSpec::Spread::kNone;
  spec.reorder = Seconds((data[0] & 128) != 0 ? 10 : 0);
  spec.guess_time_unit = true;
  tolerate_config_errors([&] { read(spec); });
  tolerate_config_errors([&] { replay(spec); });
  tolerate_config_errors([&] { lint_trace(spec); });
  return 0;
}
