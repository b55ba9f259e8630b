// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace poolcast::routing {

/// How a product spells a policy that has another name here.
struct PolicySpelling {
  std::string_view spelling, origin, name;
};

/// In alphabetical order of the spellings. Every name stands in a table of policies, modelled or not.
const std::vector<PolicySpelling>& policy_spellings();

/// The name here of what a product may spell otherwise; `spelling` itself where it is none of those.
std::string_view policy_name(std::string_view spelling);

}  // namespace poolcast::routing
