// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace poolcast {

/// JSON for people and programs: an object or array goes on one line where it fits into 200 columns, else each member
/// on a line of its own, indented by two. Ends with a newline. Doubles are in their shortest form that reads back the
/// same; a text that is not UTF-8 has the bad bytes replaced.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace poolcast
