// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/fields.h"

#include <charconv>
#include <cmath>

namespace poolcast {
namespace {

/// `count` digits at `at`; -1 when they are not all digits.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    const int digit = text[i] - '0';
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in_month(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

/// Days since 1970-01-01 in the Gregorian calendar; years begin in March, so that the leap day comes last.
std::int64_t days_since_epoch(int year, int month, int day) {
  const std::int64_t y = month > 2 ? year : year - 1;
  const int months_since_march = (month + 9) % 12;
  const std::int64_t day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 719'468;
}

/// The decimals after a point as ns; moves `at` behind them.
std::int64_t fraction_ns(std::string_view text, std::size_t& at) {
  std::int64_t ns = 0, unit = 100'000'000;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) ns += (text[at] - '0') * unit;
  return ns;
}

/// "", "Z" or "+02:00" in seconds east of UTC.
std::optional<std::int64_t> zone_s(std::string_view text) {
  if (text.empty() || text == "Z") return 0;
  const int hours = digits(text, 1, 2), minutes = text.size() == 6 ? digits(text, 4, 2) : -1;
  if ((text[0] != '+' && text[0] != '-') || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || text[3] != ':')
    return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_instant(std::string_view text) {
  const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (year < 1700 || year > 2250 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23) return std::nullopt;
  if (minute < 0 || minute > 59 || second < 0 || second > 60 || day > days_in_month(year, month)) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':') return std::nullopt;
  if (text[10] != ' ' && text[10] != 'T') return std::nullopt;
  std::size_t at = 19;
  std::int64_t ns = 0;
  if (at < text.size() && text[at] == '.') {
    ns = fraction_ns(text, ++at);
    if (text[at - 1] == '.') return std::nullopt;
  }
  const auto zone = zone_s(text.substr(at));
  if (!zone) return std::nullopt;
  const std::int64_t time_of_day = hour * 3600 + minute * 60 + second;
  return (days_since_epoch(year, month, day) * 86'400 + time_of_day - *zone) * 1'000'000'000 + ns;
}

bool split_csv(std::string_view line, std::vector<std::string_view>& fields, std::string& scratch) {
  fields.clear();
  scratch.clear();
  if (line.find('"') == std::string_view::npos) {
    for (std::size_t begin = 0;;) {
      const std::size_t comma = line.find(',', begin);
      fields.push_back(line.substr(begin, comma - begin));
      if (comma == std::string_view::npos) return true;
      begin = comma + 1;
    }
  }
  scratch.reserve(line.size());  // it must not move while fields point into it
  for (std::size_t at = 0;; ++at) {
    const std::size_t begin = scratch.size();
    if (at < line.size() && line[at] == '"') {
      for (++at; at < line.size() && (line[at] != '"' || line.substr(at, 2) == "\"\""); ++at) {
        scratch += line[at];
        if (line[at] == '"') ++at;
      }
      if (at++ >= line.size()) return false;
      if (at < line.size() && line[at] != ',') return false;
    } else {
      while (at < line.size() && line[at] != ',') scratch += line[at++];
    }
    fields.push_back(std::string_view(scratch).substr(begin));
    if (at >= line.size()) return true;
  }
}

}  // namespace poolcast
