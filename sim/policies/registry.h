// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/policies/policy.h"
#include "sim/random.h"

namespace poolcast {

struct PolicyInfo {
  std::string_view name;
  std::string_view rule;  ///< one sentence
  std::unique_ptr<Policy> (*make)(RandomStream random);
};

/// Every policy, in alphabetical order.
const std::vector<PolicyInfo>& policy_table();

/// Makes the policy of that name, or nothing when there is none. `stream` names its random stream.
std::unique_ptr<Policy> make_policy(std::string_view name, std::uint64_t seed, const std::string& stream);

std::unique_ptr<Policy> make_least_request(RandomStream random);
std::unique_ptr<Policy> make_power_of_two(RandomStream random);
std::unique_ptr<Policy> make_random(RandomStream random);
std::unique_ptr<Policy> make_round_robin(RandomStream random);
std::unique_ptr<Policy> make_vllm_dplb(RandomStream random);
std::unique_ptr<Policy> make_vllm_dplb_queue(RandomStream random);
std::unique_ptr<Policy> make_weighted(RandomStream random);

}  // namespace poolcast
