// SPDX-License-Identifier: Apache-2.0
#include "sim/policies/registry.h"

namespace poolcast {

const std::vector<PolicyInfo>& policy_table() {
  static const std::vector<PolicyInfo> table = {
      {"least-request", "the fewest requests running and waiting, for its weight", make_least_request},
      {"power-of-two", "the less loaded of two distinct candidates drawn at random", make_power_of_two},
      {"random", "any candidate, equally likely", make_random},
      {"round-robin", "each candidate in turn", make_round_robin},
      {"vllm-dplb", "the fewest requests, waiting ones counting more when KV memory is short; as vLLM chooses a rank",
       make_vllm_dplb},
      {"vllm-dplb-queue",
       "the fewest requests, a waiting one counting as four; as older versions of vLLM choose a rank",
       make_vllm_dplb_queue},
      {"weighted", "a candidate at random, in proportion to its weight", make_weighted},
  };
  return table;
}

std::unique_ptr<Policy> make_policy(std::string_view name, std::uint64_t seed, const std::string& stream) {
  for (const PolicyInfo& info : policy_table()) {
    if (info.name == name) return info.make(RandomStream(seed, stream));
  }
  return nullptr;
}

}  // namespace poolcast
