// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The values in the fields of text traces. Nothing where the text is no such value or is out of range.
namespace poolcast {

/// A decimal integer, the whole text.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// A finite decimal number, the whole text.
std::optional<double> parse_real(std::string_view text);

/// "2023-11-16 18:17:03.9799600" or "2024-05-10 00:00:00.009930+00:00": date and time with up to 9 decimals (more are
/// cut) and a time zone, T or a space between them; without a zone it is UTC. In ns since 1970, years 1700 to 2250.
std::optional<std::int64_t> parse_instant(std::string_view text);

/// Cuts a CSV line at its commas. A field in double quotes may hold commas, and "" for a quote; such fields are
/// unquoted into `scratch`, which must live as long as the fields. False when a quote is not closed.
bool split_csv(std::string_view line, std::vector<std::string_view>& fields, std::string& scratch);

}  // namespace poolcast
