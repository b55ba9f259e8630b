// SPDX-License-Identifier: Apache-2.0
// Any bytes as a scenario file: they load or end in a ConfigError, and what loads survives its round trip. A first line
// `#--set path=value` becomes an option.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "scenarios/catalog.h"
#include "scenarios/load.h"
#include "scenarios/resolve.h"

namespace {

std::vector<std::string> options_of(const std::string& text) {
  const std::string begin = "#--set ";
  if (text.compare(0, begin.size(), begin) != 0) return {};
  return {text.substr(begin.size(), text.find('\n') - begin.size())};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const poolcast::Catalog kCatalog = poolcast::Catalog::load(POOLCAST_SOURCE_DIR "/scenarios/catalog");
  const std::string text(reinterpret_cast<const char*>(data), size);
  // Other files are other readers' fuzzers; and a device file would block.
  if (text.find("file") != std::string::npos || text.find("trace") != std::string::npos) return -1;
  std::string resolved;
  try {
    resolved = poolcast::resolved_yaml(poolcast::load_scenario_text("fuzz.yaml", text, kCatalog, options_of(text)));
  } catch (const poolcast::ConfigError&) {
    return 0;
  }
  try {
    const std::string again = poolcast::resolved_yaml(poolcast::load_scenario_text("again.yaml", resolved, kCatalog));
    if (again == resolved) return 0;
    std::fprintf(stderr, "resolved:\n%s\nagain:\n%s\n", resolved.c_str(), again.c_str());
  } catch (const poolcast::ConfigError& error) {
    std::fprintf(stderr, "resolved:\n%s\n%s\n", resolved.c_str(), error.what());
  }
  std::abort();
}
