// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "scenarios/build.h"
#include "scenarios/catalog.h"
#include "scenarios/load.h"
#include "scenarios/resolve.h"
#include "tools/commands.h"

/// `poolcast check SCENARIO`: what a scenario means.
namespace poolcast {
namespace {

struct Arguments {
  std::string scenario;
  std::vector<std::string> overrides;
};

/// Everything that `run` would find wrong is found here too, because the simulation is made and thrown away.
void check(const Arguments& options) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  const Scenario scenario = load_scenario(options.scenario, catalog, options.overrides);
  const BuiltScenario built = build(scenario);
  std::string text;
  for (const std::string& note : built.facts.notes) text += "# note: " + note + "\n";
  text += resolved_yaml(scenario);
  print(text);
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  const auto options = std::make_shared<Arguments>();
  CLI::App* const command = app.add_subcommand("check", "Validate a scenario and print it as YAML with every default");
  command->add_option("SCENARIO", options->scenario, "the scenario file (YAML)")->required();
  command->add_option("--set", options->overrides, "change a key of the scenario; can be repeated")
      ->type_name("path.to.key=value")
      ->allow_extra_args(false);
  command->footer("Example:\n  poolcast check scenarios/examples/quickstart.yaml --set pools.nvidia.replicas=4");
  command->callback([options, &status] {
    check(*options);
    status = 0;
  });
}

}  // namespace poolcast
