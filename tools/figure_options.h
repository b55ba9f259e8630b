// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenarios/compare.h"
#include "scenarios/qualification.h"

/// Options that speak of figures, as `compare` and `qualify` take them. Each throws ConfigError.
namespace poolcast {

/// `ttft.p99=3%`, `cost=none`: replaces the margin of that figure, or adds one.
void set_margin(std::vector<Margin>& margins, const std::string& setting);

/// `ttft.p99=500 ms`, `goodput=99 %`, `cost=0.002`.
FigureLimit read_limit(const std::string& setting);

/// `95 %`, `0.95`.
double confidence_of(const std::string& text);

}  // namespace poolcast
