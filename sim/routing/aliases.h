// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "sim/routing/pipeline.h"

namespace poolcast::routing {

/// The routing policy of another product under its own name, as a pipeline that comes to the same rule.
struct PolicyAlias {
  std::string_view name;  ///< with @VERSION where the product's formula or defaults changed
  std::string_view origin;
  std::string_view rule;  ///< the product's, and where the pipeline differs from it
  PipelineSpec (*make)();
};

/// In alphabetical order.
const std::vector<PolicyAlias>& policy_aliases();

}  // namespace poolcast::routing
