// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "scenarios/traces/fields.h"

namespace poolcast {

/// The number of a session that a trace names by a number or by text: the number itself, or the FNV-1a hash of the text
/// with bit 62 set and bit 63 clear, so that it is no small number and can be read back from its decimal form.
inline std::uint64_t session_number(std::string_view name) {
  if (const auto number = parse_integer(name); number && *number >= 0) return static_cast<std::uint64_t>(*number);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return (hash >> 1) | 0x4000000000000000u;
}

}  // namespace poolcast
