// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace poolcast::policies {

/// Runs one recorded case; returns what differs, or nothing when all agrees.
std::string check_case(const nlohmann::json& document);

}  // namespace poolcast::policies
