// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/routing/endpoints.h"

/// The names that expressions know.
namespace poolcast::routing {

struct RequestField {
  std::string_view name;
  double (*read)(const RequestView& request);
};

struct EndpointField {
  std::string_view name;
  /// Writes the value of candidates[i] to values[i].
  void (*read)(const Endpoints& endpoints, std::span<const std::uint32_t> candidates, double* values);
};

const std::vector<RequestField>& request_fields();
const std::vector<RequestField>& model_fields();  ///< of the model that the request asks for
const std::vector<EndpointField>& endpoint_fields();

}  // namespace poolcast::routing
