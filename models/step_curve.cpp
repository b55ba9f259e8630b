// SPDX-License-Identifier: Apache-2.0
#include "models/step_curve.h"

#include <algorithm>
#include <cmath>

namespace poolcast {

DecodeLine longer(const DecodeLine& a, const DecodeLine& b, Tokens context) {
  const double at_a = a.at(context), at_b = b.at(context);
  const bool first = at_a != at_b ? at_a > at_b : a.slope_s_per_token >= b.slope_s_per_token;
  DecodeLine line = first ? a : b;
  const DecodeLine& other = first ? b : a;
  line.last_context = std::min(a.last_context, b.last_context);
  if (other.slope_s_per_token <= line.slope_s_per_token) return line;
  const double crossing = (line.base_s - other.base_s) / (other.slope_s_per_token - line.slope_s_per_token);
  if (crossing < static_cast<double>(line.last_context)) {
    line.last_context = std::max(context, static_cast<Tokens>(std::floor(crossing)));
  }
  return line;
}

}  // namespace poolcast
