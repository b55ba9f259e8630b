// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"

/// One small sound scenario, and changed copies of it.
namespace poolcast::testing {

/// Two pools, `a` (2 x h100-sxm, fp8, $2.10/h) and `b` (mi300x, bf16, no price), one model `chat` with the classes
/// `fast` and `slow`, 10 requests.
const std::string& sound_scenario();

/// The catalog of the source tree, read once.
const Catalog& source_catalog();

/// `sound_scenario` with the first `from` replaced by `to`; aborts when it has no `from`.
std::string changed(const std::string& from, const std::string& to);

/// The scenario that `text` holds, as file "s.yaml".
Scenario loaded(const std::string& text, const std::vector<std::string>& overrides = {});

/// The whole message that loading and building `text` as file "s.yaml" ends with; "no error" when there is none.
std::string fault_of(const std::string& text, const std::vector<std::string>& overrides = {});

/// The same for `changed(from, to)`.
std::string fault(const std::string& from, const std::string& to);

}  // namespace poolcast::testing
