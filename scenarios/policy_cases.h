// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/yaml.h"
#include "sim/routing/endpoints.h"
#include "sim/routing/pipeline.h"

/// Unit tests of routing policies: a state, a request, and what is expected. scenarios/policy_cases.md describes the
/// file.
namespace poolcast {

/// A pipeline of plugins, or a policy of policy_table by its name.
struct PolicyUnderTest {
  std::string name;
  std::shared_ptr<const routing::PipelineSpec> pipeline;  ///< null: the policy of that name
};

/// The name of a policy or of another product's, else a file with an EndpointPickerConfig. Throws ConfigError.
PolicyUnderTest load_policy_under_test(const std::string& name);

struct PolicyCase {
  struct Score {
    std::string plugin;  ///< empty: the total
    std::uint32_t endpoint;
    double value;
  };
  std::string name;
  std::uint64_t seed = 0;
  std::int64_t repeat = 1;  ///< decisions, one after another, by one policy
  std::vector<std::string> names;
  routing::Endpoints endpoints;
  std::vector<double> weights;
  routing::RequestView request;

  // Expected; empty where nothing is said.
  std::optional<std::vector<std::uint32_t>> one_of;  ///< of every pick; an empty list: no endpoint is picked
  std::optional<std::vector<std::uint32_t>> sequence;
  std::optional<std::vector<std::uint32_t>> dropped;  ///< by the filters, in ascending order
  std::vector<Score> scores;                          ///< of the first decision
  double score_tolerance = 1e-6;
  std::vector<std::pair<std::uint32_t, double>> distribution;
  double share_tolerance = 0.05;
  std::int64_t script_failures = 0;
};

/// Throws ConfigError, with the place, at the first fault. `policy` tells which plugins scores can be asked of.
std::vector<PolicyCase> load_policy_cases(const YamlNode& document, const PolicyUnderTest& policy);

}  // namespace poolcast
