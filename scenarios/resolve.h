// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/scenario.h"

namespace poolcast {

/// The scenario as YAML with every default visible: accelerators and shapes with their figures, engine arguments with
/// the values of their version, load with every parameter. Reading it back gives the same simulation. What follows by
/// arithmetic (KV blocks) stands in comments.
std::string resolved_yaml(const Scenario& scenario);

/// What `scenario_digest` is the digest of: the resolved text without its comments, where a trace stands as its file
/// name without the folder and its size in bytes (of a folder: the sum over its files). The content of traces is not
/// read. Two scenarios with one digest give the same results as long as equally named traces of equal size are equal.
std::string identity_yaml(const Scenario& scenario);

/// SHA-256, in hex, of `identity_yaml`.
std::string scenario_digest(const Scenario& scenario);

}  // namespace poolcast
