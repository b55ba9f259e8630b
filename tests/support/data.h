// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

/// Files of public projects, which are not part of the project: below $POOLCAST_DATA, or beside the source tree.
namespace poolcast::testing {

inline std::optional<std::string> data_path(const std::string& name) {
  const char* root = std::getenv("POOLCAST_DATA");
  const std::string folder = root != nullptr ? root : POOLCAST_SOURCE_DIR "/../shared/data";
  const std::string path = folder + "/" + name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path;
}

}  // namespace poolcast::testing

/// Ends a test with a clear line when a file of public data is not here.
#define POOLCAST_NEED_DATA(variable, name)                                    \
  const auto variable = poolcast::testing::data_path(name);                   \
  if (!variable) {                                                            \
    WARN("skipped: " << name << " is not below POOLCAST_DATA (public data)"); \
    return;                                                                   \
  }
