// SPDX-License-Identifier: Apache-2.0
#include "tools/model_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "models/error.h"
#include "scenarios/catalog.h"
#include "scenarios/error.h"
#include "scenarios/units.h"
#include "scenarios/yaml.h"

namespace poolcast {
namespace {

Precision precision_option(const char* name, const std::string& word) {
  if (const auto precision = parse_precision(word)) return *precision;
  throw ConfigError(fmt::format("{}: unknown precision {}; one of bf16, fp8, int8, fp4", name, quote(word)));
}

Layout layout_option(const std::string& text) {
  Layout layout;
  constexpr std::string_view kTp = "tp=";
  char* end = nullptr;
  if (text.rfind(kTp, 0) == 0) layout.tp = std::strtoll(text.c_str() + kTp.size(), &end, 10);
  if (end == nullptr || *end != '\0' || layout.tp < 1 || layout.tp > 100'000)
    throw ConfigError(fmt::format("--layout: expected tp=N, got {}", quote(text)));
  return layout;
}

}  // namespace

void add_model_options(CLI::App& command, ModelChoice& choice) {
  command.add_option("--model", choice.model, "a model of the catalog")->type_name("NAME")->required();
  command.add_option("--layout", choice.layout, "how it is cut")->type_name("tp=N")->capture_default_str();
  command.add_option("--weights", choice.weights, "format of the weights")->capture_default_str();
  command.add_option("--kv", choice.kv, "format of the KV cache")->capture_default_str();
}

CurveIdentity identity_of(const ModelChoice& choice) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  const ModelEntry* const model = catalog.model(choice.model);
  if (model == nullptr)
    throw ConfigError(fmt::format("--model: the catalog has no model {}{}", quote(choice.model),
                                  suggestion(choice.model, catalog.model_names())));
  CurveIdentity id;
  id.shape = model->shape;
  id.layout = layout_option(choice.layout);
  id.weights = precision_option("--weights", choice.weights);
  id.kv = precision_option("--kv", choice.kv);
  try {
    check_layout(id.shape, id.layout);
  } catch (const ModelError& error) {
    throw ConfigError(fmt::format("--layout: {}", error.what()));
  }
  return id;
}

double duration_option(const std::string& name, const std::string& text) {
  return read_seconds(parse_yaml(name, text, true)).value;
}

}  // namespace poolcast
