// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

/// What the checks of all kinds of recorded cases share.
namespace poolcast::oracle {

enum class Verdict { kOk, kDiffers, kSkipped };

struct Result {
  Verdict verdict = Verdict::kOk;
  std::string why;  ///< of a case that was skipped or differs
};

/// The first thing in which a run differs from its recording.
struct Difference {
  std::size_t step;
  std::string what;
};

/// Throws Difference unless both are equal.
void expect(std::size_t step, const char* what, const nlohmann::json& expected, const nlohmann::json& got);
nlohmann::json value_or(const nlohmann::json& step, const char* key, const nlohmann::json& otherwise);
Result differs(const Difference& difference, const char* loop);

}  // namespace poolcast::oracle
