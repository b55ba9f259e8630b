// SPDX-License-Identifier: Apache-2.0
// Scripts of plugins that stand in files of their own.
#include <catch2/catch.hpp>

#include "scenarios/endpoint_picker_config.h"
#include "sim/routing/lua_plugins.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::string config(const std::string& parameters, const std::string& type = "lua-scorer") {
  return "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n  - type: " + type +
         "\n    parameters: " + parameters + "\n";
}

std::string fault(const TemporaryFolder& folder, const std::string& text) {
  write_file(folder.file("epp.yaml"), text);
  std::vector<std::string> notes;
  try {
    load_endpoint_picker(load_yaml_file(folder.file("epp.yaml")), notes);
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    return message.substr(message.find("epp.yaml"));
  }
  return "no error";
}

}  // namespace

TEST_CASE("a script is read from beside the file that names it, and becomes part of the configuration") {
  if (!routing::lua_built_in()) return;
  const TemporaryFolder folder;
  write_file(folder.file("mine.lua"), "function score(r, e)\n  return 1 -- \"one\"\nend\n");
  write_file(folder.file("epp.yaml"), config("{file: mine.lua}"));
  std::vector<std::string> notes;
  const auto spec = load_endpoint_picker(load_yaml_file(folder.file("epp.yaml")), notes);
  const std::string text = endpoint_picker_text(spec);
  CHECK_THAT(text, Catch::Contains(R"(script: "function score(r, e)\n  return 1 -- \"one\"\nend\n")"));
  CHECK(endpoint_picker_text(load_endpoint_picker(parse_yaml("text", text), notes)) == text);
}

TEST_CASE("a fault in a script is told by the file's line and where the file is named") {
  if (!routing::lua_built_in()) return;
  const TemporaryFolder folder;
  write_file(folder.file("mine.lua"), "\nfunction score(r, e) return end end\n");
  CHECK(fault(folder, config("{file: mine.lua}")) ==
        R"(epp.yaml:5:24: plugins[0].parameters.file: mine.lua:2: <eof> expected near 'end'
    parameters: {file: mine.lua}
                       ^)");
  CHECK(fault(folder, config("{script: x = 1 +}")) ==
        R"(epp.yaml:5:26: plugins[0].parameters.script: script:1: unexpected symbol near <eof>
    parameters: {script: x = 1 +}
                         ^)");
  CHECK_THAT(fault(folder, config("{file: none.lua}")), Catch::Contains("no such file; looked for"));
  CHECK_THAT(fault(folder, config("{file: mine.lua, script: x = 1}")),
             Catch::Contains("parameters.file: stands beside \"script\", and only one of them can be the rule"));
  CHECK_THAT(fault(folder, config("{}")), Catch::Contains("plugins[0].parameters: needs a script or a file"));
  CHECK_THAT(fault(folder, config("{file: mine.lua}", "queue-scorer")), Catch::Contains("file: unknown key"));
  CHECK_THAT(fault(folder, config("{script: 'function pick() end', fallback: best}", "lua-picker")),
             Catch::Contains("one of max-score-picker, random-picker, weighted-random-picker"));
}
