// SPDX-License-Identifier: Apache-2.0
// Who goes next from the queue of flow control: named by `flowControl` of a configuration, carried out by FlowQueue.
#include "sim/routing/registry.h"

namespace poolcast::routing {

void add_flow_policies(std::vector<PluginInfo>& table) {
  table.push_back({"fcfs-ordering-policy", "flow order", "llm-d", "as they came", {}, nullptr});
  table.push_back({"edf-ordering-policy",
                   "flow order",
                   "llm-d",
                   "the request first that expires, or whose class times out, first",
                   {},
                   nullptr});
  table.push_back({"slo-deadline-ordering-policy",
                   "flow order",
                   "llm-d",
                   "the request first whose TTFT objective ends first; without an objective last",
                   {},
                   nullptr});
  table.push_back(
      {"global-strict-fairness-policy", "flow fairness", "llm-d", "the first of all flows by the order", {}, nullptr});
  table.push_back({"round-robin-fairness-policy",
                   "flow fairness",
                   "llm-d",
                   "flows in turn; an entry of the workload is a flow",
                   {},
                   nullptr});
}

}  // namespace poolcast::routing
