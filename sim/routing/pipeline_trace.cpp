// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/pipeline_trace.h"

#include <algorithm>

namespace poolcast::routing {

void PipelineTrace::dropped(const std::string& plugin, const std::vector<std::uint32_t>& before,
                            const std::vector<std::uint32_t>& after) {
  Filtered step{plugin, {}};
  for (const std::uint32_t e : before) {
    if (std::find(after.begin(), after.end(), e) == after.end()) step.dropped.push_back(e);
  }
  std::sort(step.dropped.begin(), step.dropped.end());
  filters.push_back(std::move(step));
}

}  // namespace poolcast::routing
