// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/yaml.h"
#include "sim/routing/parameters.h"

namespace poolcast {

/// A plugin's `parameters: {file: NAME}` becomes `{script: its text}`: the file lies beside the one that names it, else
/// in the working folder. Throws ConfigError when there is none, or a script beside it. Of other plugins it changes
/// nothing.
void inline_script(const YamlNode& plugin, routing::Value& parameters);

/// What is wrong with the script, as it is to be told: in a file's place if it came from one.
routing::ParameterFault in_script_file(const YamlNode& plugin, routing::ParameterFault fault);

}  // namespace poolcast
