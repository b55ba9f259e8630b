// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace poolcast {

/// Number formats of weights, KV cache and matrix units.
enum class Precision { kBf16, kFp8, kInt8, kFp4 };
inline constexpr std::array<Precision, 4> kPrecisions = {Precision::kBf16, Precision::kFp8, Precision::kInt8,
                                                         Precision::kFp4};

const char* name(Precision precision);  ///< "bf16", "fp8", "int8", "fp4"
std::optional<Precision> parse_precision(std::string_view word);

/// Bytes of one element, without the scales of a quantised format.
double bytes_per_element(Precision precision);

}  // namespace poolcast
