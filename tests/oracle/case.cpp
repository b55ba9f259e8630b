// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/case.h"

#include <fmt/format.h>

using nlohmann::json;

namespace poolcast::oracle {

void expect(std::size_t step, const char* what, const json& expected, const json& got) {
  if (expected != got) throw Difference{step, fmt::format("{}: expected {} got {}", what, expected.dump(), got.dump())};
}

json value_or(const json& step, const char* key, const json& otherwise) {
  return step.contains(key) ? step.at(key) : otherwise;
}

Result differs(const Difference& difference, const char* loop) {
  return {Verdict::kDiffers, fmt::format("step {}: {} ({} loop)", difference.step, difference.what, loop)};
}

}  // namespace poolcast::oracle
