// SPDX-License-Identifier: Apache-2.0
#include "models/precision.h"

#include <cstdlib>

namespace poolcast {

const char* name(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp8:
      return "fp8";
    case Precision::kInt8:
      return "int8";
    case Precision::kFp4:
      return "fp4";
  }
  std::abort();
}

std::optional<Precision> parse_precision(std::string_view word) {
  for (Precision precision : kPrecisions) {
    if (word == name(precision)) return precision;
  }
  return std::nullopt;
}

double bytes_per_element(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return 2;
    case Precision::kFp8:
    case Precision::kInt8:
      return 1;
    case Precision::kFp4:
      return 0.5;
  }
  std::abort();
}

}  // namespace poolcast
