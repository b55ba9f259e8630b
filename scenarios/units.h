// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/units.h"
#include "scenarios/yaml.h"
#include "sim/time.h"

/// Quantities in scenario and catalog files: a number and its unit, `400 ms`, `3.35 TB/s`, `$2.10/h per device`. A
/// number without a unit is a count and nothing else, except that a plain 0 is zero of anything.
///
/// Each reader throws ConfigError for text that is no such quantity, for an unknown unit (with the nearest one), and
/// for a value that is negative, not finite or too large.
namespace poolcast {

inline constexpr double kLongestDuration_s = 1e9;  ///< 31 years: sums of a few still fit the simulated clock

Seconds read_seconds(const YamlNode& node);  ///< ns, us, ms, s, min, h, d; at most kLongestDuration_s
Bytes read_bytes(const YamlNode& node);      ///< B, kB, MB, … (powers of 1000) and KiB, MiB, … (of 1024)
BytesPerSecond read_bytes_per_second(const YamlNode& node);  ///< the same over s, and Gbit/s
FlopsPerSecond read_flops_per_second(const YamlNode& node);  ///< GFLOP/s, TFLOP/s, PFLOP/s
Watts read_watts(const YamlNode& node);                      ///< W, kW, MW
double read_rate_per_s(const YamlNode& node);                ///< 5/s, 300/min, 1000/h
double read_share(const YamlNode& node);                     ///< 0.1 or 10 %; at most 1

/// `$2.10/h`, `$2.10/h per device`, `$16.80/h per replica`. Without a word after it a price is per device.
struct Price {
  DollarsPerHour amount;
  bool per_replica = false;
};
Price read_price(const YamlNode& node);
Dollars read_usd(const YamlNode& node);         ///< `$2.50`
double read_token_price(const YamlNode& node);  ///< $0.60/M: dollars per million tokens

// The shortest text that its reader turns into exactly the same value.
std::string to_text(Seconds value);
std::string to_text(Bytes value);
std::string to_text(BytesPerSecond value);
std::string to_text(FlopsPerSecond value);
std::string to_text(Watts value);
std::string to_text(DollarsPerHour value);         ///< "$2.1/h"
std::string to_text(Dollars value);                ///< "$2.5"
std::string token_price_text(double per_million);  ///< "$0.6/M"
std::string rate_text(double per_s);               ///< "5/s"
std::string number_text(double value);             ///< a bare number
std::string time_text(SimTime time);               ///< "1500 ms"; kNever is "none"

}  // namespace poolcast
