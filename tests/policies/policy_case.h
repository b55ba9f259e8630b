// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/routing/endpoints.h"
#include "sim/routing/parameters.h"

/// One recorded decision of llm-d's plugins, in the form that poolcast's take.
namespace poolcast::policies {

routing::Value to_value(const nlohmann::json& document);

struct PolicyCase {
  explicit PolicyCase(const nlohmann::json& document);

  /// The index of an endpoint; one that is no candidate gets an index behind them.
  std::uint32_t index_of(const std::string& name);

  std::string plugin, name;
  routing::RequestView request;
  routing::Endpoints endpoints;
  std::vector<std::string> names;    ///< of endpoints
  std::vector<std::uint32_t> all;    ///< indices of the candidates
  std::vector<double> input_scores;  ///< of pickers

 private:
  void read_endpoint(const nlohmann::json& entry, std::size_t e);
  void read_metrics(const nlohmann::json& metrics, std::size_t e);
  std::uint32_t model_of(const std::string& name);

  std::map<std::string, std::uint32_t> models_;
};

}  // namespace poolcast::policies
