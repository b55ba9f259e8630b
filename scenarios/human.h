// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Numbers as a reader on a terminal wants them: about three significant digits and a unit, in ASCII. Files hold the
/// full precision.
namespace poolcast {

std::string human_count(std::uint64_t count);  // 1,234,567
std::string human_number(double value);        // 0.0123, 1.23, 12.3, 123, 1,235; value >= 0
std::string human_seconds(double seconds);     // 0.412 ms, 41.2 ms, 4.12 s, 412 s, 1.15 h
std::string human_span(double seconds);        // 57 min 16 s, 3 h 05 min, 2 d 04 h, 41.2 s
std::string human_usd(double usd);             // $1,234, $12.34, $0.0123
/// 98.7 %; only a share of exactly 1 is "100 %" and only exactly 0 is "0 %".
std::string human_share(double share);

}  // namespace poolcast
