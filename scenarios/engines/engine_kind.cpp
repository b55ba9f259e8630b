// SPDX-License-Identifier: Apache-2.0
#include "scenarios/engines/engine_kind.h"

#include <algorithm>

namespace poolcast {
namespace {

const std::vector<EngineKind>& kinds() {
  static const std::vector<EngineKind> kKinds = {
      vllm_kind(), sglang_kind(), tensorrt_llm_kind(), bucketed_kind(), triton_kind(), session_kind(),
  };
  return kKinds;
}

}  // namespace

const EngineKind* engine_kind(std::string_view name) {
  for (const EngineKind& kind : kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::vector<std::string_view> engine_kind_names() {
  std::vector<std::string_view> names;
  for (const EngineKind& kind : kinds()) names.push_back(kind.name);
  return names;
}

const EngineArgument* EngineKind::find(std::string_view argument) const {
  for (const EngineArgument& known : arguments) {
    if (known.name == argument) return &known;
  }
  return nullptr;
}

std::string EngineKind::canonical(std::string argument, std::string_view group) const {
  std::replace(argument.begin(), argument.end(), '-', '_');
  const std::string inside = std::string(group) + "." + argument;
  for (const auto& [other, own] : aliases) {
    if (argument == other || inside == other) return std::string(own);
  }
  return argument;
}

bool EngineKind::carries(Task task) const { return std::find(tasks.begin(), tasks.end(), task) != tasks.end(); }

}  // namespace poolcast
