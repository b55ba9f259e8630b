// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/spellings.h"

namespace poolcast::routing {

const std::vector<PolicySpelling>& policy_spellings() {
  static const std::vector<PolicySpelling> table = {
      {"PowerOfTwoChoices", "Ray", "power-of-two@ray"},
      {"PrefixCacheAffinityRouter", "Ray", "prefix-aware@ray"},
      {"cache_aware", "smg", "cache-aware@smg-cli"},
      {"consistent_hashing", "smg", "consistent-hashing"},
      {"cost-based-routing", "LiteLLM", "cost-based"},
      {"disaggregated_prefill", "production-stack", "pd"},
      {"disaggregated_prefill_orchestrated", "production-stack", "pd"},
      {"kv", "Dynamo", "dynamo-kv"},
      {"kv_aware", "Ray", "kv-aware"},
      {"kvaware", "production-stack", "kv-aware"},
      {"latency-based-routing", "LiteLLM", "latency-based"},
      {"least-loaded", "Dynamo, BLIS", "least-request"},
      {"least_load", "smg", "least-load"},
      {"power_of_two", "smg", "power-of-two@smg"},
      {"prefix_hash", "smg", "prefix-hash"},
      {"prefixaware", "production-stack", "prefix-aware@production-stack"},
      {"round_robin", "smg", "round-robin"},
      {"roundrobin", "production-stack", "round-robin"},
      {"usage-based-routing", "LiteLLM", "usage-based"},
      {"usage-based-routing-v2", "LiteLLM", "usage-based"},
  };
  return table;
}

std::string_view policy_name(std::string_view spelling) {
  for (const PolicySpelling& entry : policy_spellings()) {
    if (entry.spelling == spelling) return entry.name;
  }
  return spelling;
}

}  // namespace poolcast::routing
