// SPDX-License-Identifier: Apache-2.0
#include "scenarios/json_text.h"

#include <nlohmann/json.hpp>

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

std::string scalar(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string one_line(const Json& value) {
  if (!value.is_structured()) return scalar(value);
  std::string out;
  for (const auto& [key, member] : value.items()) {
    if (!out.empty()) out += ", ";
    if (value.is_object()) out += scalar(Json(key)) + ": ";
    out += one_line(member);
  }
  return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

/// `used` columns of the line stand before the value; a comma must fit behind it.
void write(const Json& value, std::size_t depth, std::size_t used, std::string& out) {
  constexpr std::size_t kColumns = 200;
  const std::string flat = one_line(value);
  if (!value.is_structured() || value.empty() || used + flat.size() + 1 <= kColumns) {
    out += flat;
    return;
  }
  const std::string indent(2 * (depth + 1), ' ');
  out += value.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    const std::string lead = indent + (value.is_object() ? scalar(Json(key)) + ": " : "");
    out += lead;
    write(member, depth + 1, lead.size(), out);
  }
  out += "\n" + std::string(2 * depth, ' ') + (value.is_object() ? "}" : "]");
}

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  write(value, 0, 0, out);
  return out + "\n";
}

}  // namespace poolcast
