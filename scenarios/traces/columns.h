// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/error.h"

namespace poolcast {

/// Where the columns of a CSV file stand, by its header.
class Columns {
 public:
  static constexpr std::size_t kAbsent = SIZE_MAX;

  Columns() = default;
  Columns(std::string file, std::string_view header);

  std::size_t count() const { return names_.size(); }
  /// Index of the column of the first of these names that is there, or kAbsent.
  std::size_t find(const std::vector<std::string_view>& names) const;
  /// The same; throws ConfigError when it is absent.
  std::size_t need(const std::vector<std::string_view>& names) const;
  /// Throws ConfigError on a column that is none of these, and on one that stands there twice.
  void allow_only(const std::vector<std::string_view>& names) const;

 private:
  std::string file_;
  std::string header_;
  std::vector<std::string> names_;
};

}  // namespace poolcast
