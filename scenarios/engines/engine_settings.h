// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/schedulers/engine_args.h"

namespace poolcast {

/// What the arguments of an engine set, defaults of its version included.
struct EngineSettings {
  EngineArgs args;
  std::optional<double> memory_share;     ///< of the device's memory, as its kind counts (KvRule)
  std::optional<std::int64_t> stated_kv;  ///< size of the KV cache that the file states, in the unit of its argument
  std::string kv_cache_dtype = "auto";
  /// Arguments that reach `args` only together with others, when the kind completes itself.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> guides;
  std::set<std::string, std::less<>> stated;  ///< names of the arguments that the file sets

  bool states(std::string_view name) const { return stated.find(name) != stated.end(); }
};

}  // namespace poolcast
