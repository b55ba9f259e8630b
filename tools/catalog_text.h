// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/catalog.h"

/// The catalog as text for a terminal. What no source states is spelt "missing".
namespace poolcast {

// One table each.
std::string accelerators_text(const Catalog& catalog);
std::string models_text(const Catalog& catalog);
std::string engines_text(const Catalog& catalog);
std::string prices_text(const Catalog& catalog);

// Everything about one entry, with sources.
std::string accelerator_text(const Accelerator& accelerator, const Catalog& catalog);
std::string model_text(const ModelEntry& model);
std::string engine_text(const EngineDefaults& defaults, const std::string& device);
std::string price_text(const PriceEntry& price);

}  // namespace poolcast
