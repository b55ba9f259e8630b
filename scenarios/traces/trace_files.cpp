// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/trace_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "scenarios/traces/fields.h"

namespace poolcast {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (!name.empty() && name[0] != '.') names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// N of "chunk-N" + `end` (or that and ".gz"); -1 for another name.
std::int64_t chunk_number(std::string_view name, std::string_view end) {
  constexpr std::string_view kStart = "chunk-";
  if (ends_with(name, ".gz")) name.remove_suffix(3);
  if (name.substr(0, kStart.size()) != kStart || !ends_with(name, end)) return -1;
  name.remove_prefix(kStart.size());
  name.remove_suffix(std::min(name.size(), end.size()));
  return parse_integer(name).value_or(-1);
}

}  // namespace

std::string fault_of_trace_path(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return "no such file";
  if (std::filesystem::is_regular_file(status) || std::filesystem::is_directory(status)) return {};
  return "is a pipe or a device; a trace is read twice and must be a regular file or a folder";
}

std::vector<std::string> agentic_files(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const std::string& name : names_in(path)) {
    if (ends_with(name, ".json") || ends_with(name, ".json.gz"))
      files.push_back((std::filesystem::path(path) / name).string());
  }
  return files;
}

std::vector<ServeGenClient> servegen_clients(const std::string& folder) {
  std::map<std::int64_t, ServeGenClient> clients;
  for (const std::string& name : names_in(folder)) {
    const std::string path = (std::filesystem::path(folder) / name).string();
    if (const auto n = chunk_number(name, "-trace.csv"); n >= 0) clients[n].rates = path;
    if (const auto n = chunk_number(name, "-dataset.json"); n >= 0) clients[n].tables = path;
  }
  std::vector<ServeGenClient> found;
  for (auto& [number, client] : clients) {
    client.number = number;
    if (!client.rates.empty()) found.push_back(client);
  }
  return found;
}

}  // namespace poolcast
