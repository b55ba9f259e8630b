// SPDX-License-Identifier: Apache-2.0
#include "scenarios/human.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace poolcast {
namespace {

/// Three significant digits without an exponent; from 1,000 on all digits before the point.
std::string three_digits(double value) {
  if (value == 0) return "0";
  // The exponent of the value as it will be printed, so that 999.7 becomes "1,000" and not "1e+03".
  const std::string scientific = fmt::format("{:.2e}", value);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent >= 3) return human_count(static_cast<std::uint64_t>(std::llround(value)));
  return fmt::format("{:.{}f}", value, std::clamp(2 - exponent, 0, 12));
}

std::string two_parts(double seconds, std::int64_t large, std::string_view large_unit, std::int64_t small,
                      std::string_view small_unit) {
  const std::int64_t smalls = std::llround(seconds / static_cast<double>(small));
  const std::int64_t per_large = large / small;
  return fmt::format("{} {} {:02} {}", smalls / per_large, large_unit, smalls % per_large, small_unit);
}

}  // namespace

std::string human_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string human_number(double value) { return three_digits(value); }

std::string human_seconds(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 3599.5) return three_digits(seconds) + " s";
  return three_digits(seconds / 3600) + " h";
}

std::string human_span(double seconds) {
  if (seconds < 59.95) return human_seconds(seconds);
  if (seconds < 3599.5) return two_parts(seconds, 60, "min", 1, "s");
  if (seconds < 86400 - 30) return two_parts(seconds, 3600, "h", 60, "min");
  return two_parts(seconds, 86400, "d", 3600, "h");
}

std::string human_usd(double usd) {
  if (usd < 0.995) return "$" + three_digits(usd);
  if (usd < 999.995) return fmt::format("${:.2f}", usd);
  return "$" + human_count(static_cast<std::uint64_t>(std::llround(usd)));
}

std::string human_share(double share) {
  if (share == 0) return "0 %";
  if (share == 1) return "100 %";
  if (share < 0.0005) return "<0.1 %";
  if (share >= 0.9995 && share < 1) return ">99.9 %";
  return fmt::format("{:.1f} %", share * 100);
}

}  // namespace poolcast
