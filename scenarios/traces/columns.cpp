// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/traces/fields.h"

namespace poolcast {

Columns::Columns(std::string file, std::string_view header) : file_(std::move(file)), header_(header) {
  std::vector<std::string_view> fields;
  std::string scratch;
  if (!split_csv(header, fields, scratch))
    throw ConfigError(Location{file_, 1, 1, header_}, "", "a quote in the header is not closed");
  names_.assign(fields.begin(), fields.end());
}

std::size_t Columns::find(const std::vector<std::string_view>& names) const {
  for (std::string_view name : names) {
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at != names_.end()) return static_cast<std::size_t>(at - names_.begin());
  }
  return kAbsent;
}

std::size_t Columns::need(const std::vector<std::string_view>& names) const {
  const std::size_t index = find(names);
  if (index == kAbsent)
    throw ConfigError(Location{file_, 1, 1, header_}, "", fmt::format("the header has no column \"{}\"", names[0]));
  return index;
}

void Columns::allow_only(const std::vector<std::string_view>& names) const {
  int column = 1;
  for (auto at = names_.begin(); at != names_.end(); ++at) {
    const Location where{file_, 1, column, header_};
    if (std::find(names.begin(), names.end(), *at) == names.end())
      throw ConfigError(where, "", fmt::format("unknown column {}{}", quote(*at), suggestion(*at, names)));
    if (std::find(names_.begin(), at, *at) != at)
      throw ConfigError(where, "", fmt::format("the column {} stands there twice", quote(*at)));
    column += static_cast<int>(at->size()) + 1;
  }
}

}  // namespace poolcast
