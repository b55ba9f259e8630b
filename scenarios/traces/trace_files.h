// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Which files a trace is made of.
namespace poolcast {

/// Why a path can be no trace: nothing is there, or it is a pipe or a device, which cannot be read from its start again
/// after its head told the format. Empty when it can be one.
std::string fault_of_trace_path(const std::string& path);

/// The .json and .json.gz files of a folder by name, or the one file that `path` is. Hidden files are left out.
std::vector<std::string> agentic_files(const std::string& path);

/// One client of a ServeGen folder: its rates, and its length tables where they are published.
struct ServeGenClient {
  std::int64_t number = 0;  ///< N of chunk-N-trace.csv
  std::string rates;        ///< path of chunk-N-trace.csv[.gz]
  std::string tables;       ///< path of chunk-N-dataset.json[.gz]; empty when there is none
};
/// By number. Empty when the path is no folder or holds none.
std::vector<ServeGenClient> servegen_clients(const std::string& folder);

}  // namespace poolcast
