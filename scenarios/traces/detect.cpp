// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "scenarios/error.h"
#include "scenarios/traces/input_file.h"
#include "scenarios/traces/probe.h"
#include "scenarios/traces/trace_files.h"

namespace poolcast {
namespace {

constexpr const char* kFormats = "azure, mooncake, burstgpt, agentic, servegen, csv, jsonl, hdf5";

[[noreturn]] void unknown(const std::string& path, std::string_view what) {
  throw ConfigError(Location{path}, "", fmt::format("the format of the trace cannot be told: {}", what),
                    fmt::format("state it with the key `format`: {}", kFormats));
}

DetectedFormat detect_folder(const std::string& path) {
  if (!servegen_clients(path).empty()) return {TraceFormat::kServeGen, "files named like chunk-0-trace.csv"};
  if (!agentic_files(path).empty()) return {TraceFormat::kAgentic, "a folder of JSON files"};
  unknown(path, "the folder holds neither chunk-N-trace.csv files nor JSON files");
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

DetectedFormat detect_json(const std::string& path, std::string_view head) {
  if (has(head, "\"hash_id_scope\"") || has(head, "\"requests\"")) return {TraceFormat::kAgentic, "its requests"};
  if (has(head, "\"input_length\"")) return {TraceFormat::kMooncake, "its field input_length"};
  for (std::string_view field : {"prompt_tokens", "timestamp_s", "arrival_time_ns"}) {
    if (has(head, fmt::format("\"{}\"", field))) return {TraceFormat::kJsonl, fmt::format("its field {}", field)};
  }
  unknown(path, "JSON without the fields of a known trace");
}

DetectedFormat detect_header(const std::string& path, std::string_view line) {
  if (has(line, "ContextTokens")) return {TraceFormat::kAzure, "its header"};
  if (has(line, "Request tokens")) return {TraceFormat::kBurstGpt, "its header"};
  if (has(line, "timestamp_s") || has(line, "arrived_at")) return {TraceFormat::kCsv, "its header"};
  if (has(line, "num_prefill_tokens"))
    unknown(path, "it has lengths but no timestamps; use it as an empirical table of a `synth` workload");
  unknown(path, fmt::format("it begins with {}", quote(line)));
}

}  // namespace

DetectedFormat detect_format(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return detect_folder(path);
  InputFile input(path);
  std::string head(1u << 16, '\0');
  std::size_t size = 0;
  while (const std::size_t got = input.read(head.data() + size, head.size() - size)) size += got;
  std::string_view text(head.data(), size);
  if (text.empty()) throw ConfigError(Location{path}, "", "the file is empty");
  if (text.substr(0, 8) == "\x89HDF\r\n\x1a\n") return {TraceFormat::kHdf5, "its magic bytes"};
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
  if (!text.empty() && text[0] == '{') return detect_json(path, text);
  return detect_header(path, text.substr(0, text.find_first_of("\r\n")));
}

}  // namespace poolcast
