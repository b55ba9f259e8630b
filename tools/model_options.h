// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenarios/curve_file.h"

namespace CLI {
class App;
}

/// Which model on which layout a calibration is of.
namespace poolcast {

struct ModelChoice {
  std::string model;
  std::string layout = "tp=1";
  std::string weights = "bf16";
  std::string kv = "bf16";
};

void add_model_options(CLI::App& command, ModelChoice& choice);

/// By the catalog. Throws ConfigError with the nearest spelling.
CurveIdentity identity_of(const ModelChoice& choice);

/// "90 s", "5min"; seconds. Throws ConfigError.
double duration_option(const std::string& name, const std::string& text);

}  // namespace poolcast
