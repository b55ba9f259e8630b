// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenarios/policy_cases.h"

namespace poolcast {

struct PolicyCaseResult {
  std::string name;
  std::vector<std::string> differences;  ///< empty: as expected
  std::string scores;                    ///< a table of the first decision's, by plugin; empty: the policy has none
};

/// Carries out the decisions of a case with a policy made for it.
PolicyCaseResult run_policy_case(const PolicyUnderTest& policy, const PolicyCase& c);

/// A line a case, the differences of those that failed, and how many did.
std::string policy_test_text(const std::vector<PolicyCaseResult>& results);
bool all_passed(const std::vector<PolicyCaseResult>& results);

}  // namespace poolcast
