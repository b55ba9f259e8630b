// SPDX-License-Identifier: Apache-2.0
#include "scenarios/task.h"

namespace poolcast {

const char* name(Task task) {
  constexpr const char* kNames[] = {"generate", "embed", "image", "train"};
  return kNames[static_cast<int>(task)];
}

const char* unit(Task task) {
  constexpr const char* kUnits[] = {"tokens", "embeddings", "images", "steps"};
  return kUnits[static_cast<int>(task)];
}

}  // namespace poolcast
