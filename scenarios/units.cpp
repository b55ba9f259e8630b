// SPDX-License-Identifier: Apache-2.0
#include "scenarios/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

namespace poolcast {
namespace {

/// One unit equals `times / over` base units. Two factors, so that a small unit is exact: 400 ms is 400 / 1000.
struct Unit {
  std::string_view name;
  double times = 1;
  double over = 1;
};

struct Dimension {
  std::string_view noun;     // "a duration"
  std::string_view example;  // "400 ms"
  std::string_view base;     // the base unit
  std::vector<Unit> units;   // in the order in which a message lists them
  double largest = 1e300;
};

constexpr double kKibi = 1024;

const Dimension& durations() {
  static const Dimension kDimension = {
      "a duration",
      "400 ms",
      "s",
      {{"ns", 1, 1e9}, {"us", 1, 1e6}, {"µs", 1, 1e6}, {"ms", 1, 1e3}, {"s"}, {"min", 60}, {"h", 3600}, {"d", 86400}},
      kLongestDuration_s};
  return kDimension;
}

const Dimension& sizes() {
  static const Dimension kDimension = {"a size in bytes",
                                       "80 GB",
                                       "B",
                                       {{"B"},
                                        {"kB", 1e3},
                                        {"MB", 1e6},
                                        {"GB", 1e9},
                                        {"TB", 1e12},
                                        {"PB", 1e15},
                                        {"KiB", kKibi},
                                        {"MiB", kKibi * kKibi},
                                        {"GiB", kKibi * kKibi * kKibi},
                                        {"TiB", kKibi * kKibi * kKibi * kKibi}}};
  return kDimension;
}

const Dimension& bandwidths() {
  static const Dimension kDimension = {"a bandwidth",
                                       "900 GB/s",
                                       "B/s",
                                       {{"B/s"},
                                        {"kB/s", 1e3},
                                        {"MB/s", 1e6},
                                        {"GB/s", 1e9},
                                        {"TB/s", 1e12},
                                        {"PB/s", 1e15},
                                        {"GiB/s", kKibi * kKibi * kKibi},
                                        {"TiB/s", kKibi * kKibi * kKibi * kKibi},
                                        {"Gbit/s", 1e9, 8}}};
  return kDimension;
}

const Dimension& compute_rates() {
  static const Dimension kDimension = {
      "a compute rate",
      "989 TFLOP/s",
      "FLOP/s",
      {{"FLOP/s"}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}}};
  return kDimension;
}

const Dimension& powers() {
  static const Dimension kDimension = {"a power", "700 W", "W", {{"W"}, {"kW", 1e3}, {"MW", 1e6}}};
  return kDimension;
}

const Dimension& rates() {
  static const Dimension kDimension = {
      "a rate", "5/s", "/s", {{"/s"}, {"/min", 1, 60}, {"/h", 1, 3600}, {"/d", 1, 86400}}};
  return kDimension;
}

struct NumberPrefix {
  double value = 0;
  std::size_t end = 0;  // first byte behind the number and the blanks that follow it
};

/// The number that `text` begins with. Throws, in the words of `dimension`, when there is none or it is out of bounds.
NumberPrefix read_number(const YamlNode& node, std::string_view text, std::size_t from, std::string_view noun,
                         std::string_view example) {
  NumberPrefix number;
  const auto parsed = std::from_chars(text.data() + from, text.data() + text.size(), number.value);
  const bool too_large = parsed.ec == std::errc::result_out_of_range;
  if (parsed.ec == std::errc::invalid_argument || (!too_large && !std::isfinite(number.value))) {
    node.fail(fmt::format("expected {} such as \"{}\", got {}", noun, example, quote(text)));
  }
  if (too_large) node.fail("the number in " + quote(text) + " is too large or too small");
  if (number.value < 0) node.fail("must not be negative, got " + quote(text));
  number.end = static_cast<std::size_t>(parsed.ptr - text.data());
  while (number.end < text.size() && text[number.end] == ' ') ++number.end;
  return number;
}

[[noreturn]] void fail_unit(const YamlNode& node, std::string_view text, std::size_t at,
                            const std::vector<std::string_view>& known) {
  const std::string_view unit = text.substr(at);
  node.fail_at(at, "unknown unit " + quote(unit) + " in " + quote(text), spelling_hint(unit, known));
}

double read_quantity(const YamlNode& node, const Dimension& dimension) {
  const std::string_view text = node.text();
  const NumberPrefix number = read_number(node, text, 0, dimension.noun, dimension.example);
  const std::string_view unit = text.substr(number.end);
  if (unit.empty() && number.value == 0) return 0;
  if (unit.empty()) {
    node.fail(fmt::format("expected {} with its unit, such as \"{}\", got {}", dimension.noun, dimension.example,
                          quote(text)));
  }
  std::vector<std::string_view> known;
  for (const Unit& candidate : dimension.units) {
    known.push_back(candidate.name);
    if (candidate.name != unit) continue;
    const double value = number.value * candidate.times / candidate.over;
    if (value <= dimension.largest) return value;
    node.fail(fmt::format("must be at most {:g} {}, got {}", dimension.largest, dimension.base, quote(text)));
  }
  fail_unit(node, text, number.end, known);
}

/// Every unit is tried; the shortest spelling that reads back as the same number wins, among equals the larger unit.
std::string quantity_text(double value, const Dimension& dimension, std::string_view between = " ") {
  std::string best;
  for (const Unit& unit : dimension.units) {
    const double number = value / unit.times * unit.over;
    if (number * unit.times / unit.over != value || unit.name == "µs") continue;
    std::string text = fmt::format("{}{}{}", number, between, unit.name);
    if (best.empty() || text.size() < best.size() || (text.size() == best.size() && number >= 1))
      best = std::move(text);
  }
  return best;
}

NumberPrefix read_dollars(const YamlNode& node, std::string_view noun, std::string_view example) {
  const std::string_view text = node.text();
  if (text.empty() || text[0] != '$') {
    node.fail(fmt::format("expected {} such as \"{}\", got {}", noun, example, quote(text)));
  }
  return read_number(node, text, 1, noun, example);
}

}  // namespace

Seconds read_seconds(const YamlNode& node) { return Seconds(read_quantity(node, durations())); }
Bytes read_bytes(const YamlNode& node) { return Bytes(read_quantity(node, sizes())); }
BytesPerSecond read_bytes_per_second(const YamlNode& node) { return BytesPerSecond(read_quantity(node, bandwidths())); }
FlopsPerSecond read_flops_per_second(const YamlNode& node) {
  return FlopsPerSecond(read_quantity(node, compute_rates()));
}
Watts read_watts(const YamlNode& node) { return Watts(read_quantity(node, powers())); }
double read_rate_per_s(const YamlNode& node) { return read_quantity(node, rates()); }

double read_share(const YamlNode& node) {
  const std::string_view text = node.text();
  const NumberPrefix number = read_number(node, text, 0, "a share", "10 %");
  const std::string_view unit = text.substr(number.end);
  if (!unit.empty() && unit != "%") fail_unit(node, text, number.end, {"%"});
  const double share = unit.empty() ? number.value : number.value / 100;
  if (share > 1) node.fail("must be at most 1, that is 100 %, got " + quote(text));
  return share;
}

Price read_price(const YamlNode& node) {
  const std::string_view text = node.text();
  const NumberPrefix number = read_dollars(node, "a price", "$2.10/h per device");
  const std::string_view unit = text.substr(number.end);
  if (unit != "/h" && unit != "/h per device" && unit != "/h per replica") {
    fail_unit(node, text, number.end, {"/h", "/h per device", "/h per replica"});
  }
  return {DollarsPerHour(number.value), unit == "/h per replica"};
}

Dollars read_usd(const YamlNode& node) {
  const std::string_view text = node.text();
  const NumberPrefix number = read_dollars(node, "an amount", "$2.50");
  if (number.end != text.size()) fail_unit(node, text, number.end, {});
  return Dollars(number.value);
}

double read_token_price(const YamlNode& node) {
  const std::string_view text = node.text();
  const NumberPrefix number = read_dollars(node, "a price per million tokens", "$0.60/M");
  if (text.substr(number.end) != "/M") fail_unit(node, text, number.end, {"/M"});
  return number.value;
}

std::string to_text(Seconds value) { return quantity_text(value.value, durations()); }
std::string to_text(Bytes value) { return quantity_text(value.value, sizes()); }
std::string to_text(BytesPerSecond value) { return quantity_text(value.value, bandwidths()); }
std::string to_text(FlopsPerSecond value) { return quantity_text(value.value, compute_rates()); }
std::string to_text(Watts value) { return quantity_text(value.value, powers()); }
std::string to_text(DollarsPerHour value) { return fmt::format("${}/h", value.value); }
std::string to_text(Dollars value) { return fmt::format("${}", value.value); }
std::string token_price_text(double per_million) { return fmt::format("${}/M", per_million); }
std::string rate_text(double per_s) { return quantity_text(per_s, rates(), ""); }
std::string number_text(double value) { return fmt::format("{}", value); }

std::string time_text(SimTime time) {
  if (time == kNever) return "none";
  if (time == 0) return "0 s";
  constexpr std::array<std::pair<SimTime, std::string_view>, 7> kUnits = {{{86400 * kNanosPerSecond, "d"},
                                                                           {3600 * kNanosPerSecond, "h"},
                                                                           {60 * kNanosPerSecond, "min"},
                                                                           {kNanosPerSecond, "s"},
                                                                           {1'000'000, "ms"},
                                                                           {1'000, "us"},
                                                                           {1, "ns"}}};
  std::string best;
  for (const auto& [nanoseconds, unit] : kUnits) {
    if (time % nanoseconds != 0) continue;
    std::string text = fmt::format("{} {}", time / nanoseconds, unit);
    if (best.empty() || text.size() < best.size()) best = std::move(text);
  }
  return best;
}

}  // namespace poolcast
