// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace poolcast::routing {

/// How often the script of a policy author was called, and how often that failed.
struct ScriptFaults {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::string first;  ///< message of the first failure

  void add(const std::string& message) {
    if (++failed == 1) first = message;
  }
};

}  // namespace poolcast::routing
