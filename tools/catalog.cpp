// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/catalog.h"
#include "scenarios/error.h"
#include "tools/catalog_text.h"
#include "tools/commands.h"

/// `poolcast catalog [NAME]`: what is known, and from where.
namespace poolcast {
namespace {

struct Options {
  std::string name;
  std::string device = "h100-sxm";
  bool offline = false;
};

constexpr const char* kSections[] = {"accelerators", "models", "engines", "prices"};

std::string overview(const Catalog& catalog) {
  return accelerators_text(catalog) + "\n" + models_text(catalog) + "\n" + engines_text(catalog) + "\n" +
         prices_text(catalog) + "\n`poolcast catalog NAME` shows one entry with its sources.\n";
}

/// Every word that can follow `poolcast catalog`. Owns its text.
std::vector<std::string> all_names(const Catalog& catalog) {
  std::vector<std::string> names(std::begin(kSections), std::end(kSections));
  for (const std::string_view name : catalog.accelerator_names()) names.emplace_back(name);
  for (const std::string_view name : catalog.model_names()) names.emplace_back(name);
  for (const std::string_view name : catalog.engine_kinds()) names.emplace_back(name);
  for (const PriceEntry& price : catalog.prices()) names.push_back(price.name());
  return names;
}

/// Names that hold the word, then the nearest spelling.
[[noreturn]] void fail_unknown(const std::string& word, const Catalog& catalog) {
  constexpr std::size_t kMost = 5;
  const std::vector<std::string> names = all_names(catalog);
  std::vector<std::string> near;
  for (const std::string& name : names) {
    if (near.size() < kMost && name.find(word) != std::string::npos) near.push_back('"' + name + '"');
  }
  if (near.empty()) {
    const std::string_view nearest_name = nearest(word, {names.begin(), names.end()});
    if (!nearest_name.empty()) near.push_back(quote(nearest_name));
  }
  std::string message = "catalog: nothing is named " + quote(word);
  message += near.empty() ? "; `poolcast catalog` lists what is"
                          : "; did you mean " + fmt::format("{}?", fmt::join(near, ", "));
  throw ConfigError(message);
}

const Accelerator& find_device(const std::string& name, const Catalog& catalog) {
  const Accelerator* device = catalog.accelerator(name);
  if (device == nullptr) {
    throw ConfigError("--on: the catalog has no accelerator " + quote(name) +
                      suggestion(name, catalog.accelerator_names()));
  }
  return *device;
}

std::string engine_versions_text(const std::string& kind, const Catalog& catalog, const Options& options) {
  const Accelerator& device = find_device(options.device, catalog);
  const EngineUsage usage = options.offline ? EngineUsage::kOffline : EngineUsage::kApi;
  const std::string on = device.name + (options.offline ? ", offline use" : ", API server");
  std::string text;
  for (const std::string_view version : catalog.engine_versions(kind)) {
    if (!text.empty()) text += "\n";
    text += engine_text(*catalog.engine_defaults(kind, version, device, usage), on);
  }
  return text;
}

/// Named as in a scenario, or by the instance alone; in any case.
std::string prices_of(const std::string& name, const Catalog& catalog) {
  std::string text;
  for (const PriceEntry& price : catalog.prices()) {
    if (price.is_called(name) || price.is_called(price.provider + "/" + name)) text += price_text(price);
  }
  return text;
}

std::string entry(const Options& options, const Catalog& catalog) {
  const std::string& name = options.name;
  if (name == kSections[0]) return accelerators_text(catalog);
  if (name == kSections[1]) return models_text(catalog);
  if (name == kSections[2]) return engines_text(catalog);
  if (name == kSections[3]) return prices_text(catalog);
  if (const Accelerator* accelerator = catalog.accelerator(name)) return accelerator_text(*accelerator, catalog);
  if (const ModelEntry* model = catalog.model(name)) return model_text(*model);
  if (!catalog.engine_versions(name).empty()) return engine_versions_text(name, catalog, options);
  const std::string prices = prices_of(name, catalog);
  if (!prices.empty()) return prices;
  fail_unknown(name, catalog);
}

void print_catalog(const Options& options) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  print(options.name.empty() ? overview(catalog) : entry(options, catalog));
}

}  // namespace

void add_catalog(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("catalog", "Accelerators, models, engines and prices, with their sources");
  const auto options = std::make_shared<Options>();
  command->add_option("name", options->name,
                      "an accelerator, model, engine or price, or one of the four tables by its heading");
  command->add_option("--on", options->device, "the accelerator on which an engine's defaults are shown")
      ->capture_default_str();
  command->add_flag("--offline", options->offline, "an engine's defaults for offline use instead of the API server");
  command->footer("Example:\n  poolcast catalog vllm --on mi300x");
  command->callback([options] { print_catalog(*options); });
}

}  // namespace poolcast
