// SPDX-License-Identifier: Apache-2.0
// Scenarios that are put together from several files.
#include "scenarios/include.h"

#include <catch2/catch.hpp>

#include "scenarios/load.h"
#include "scenarios/resolve.h"
#include "tests/support/scenario_text.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// The sound scenario with its models and pools in other files, of which one is in a folder below.
struct Parts {
  TemporaryFolder folder;

  Parts() {
    const std::string whole = sound_scenario();
    const std::size_t models = whole.find("models:\n"), pools = whole.find("pools:\n"),
                      routing = whole.find("routing:\n");
    std::filesystem::create_directory(folder.path() / "catalog");
    write("main.yaml",
          whole.substr(0, models) + "include: [catalog/models.yaml, pools.yaml]\n" + whole.substr(routing));
    write("catalog/models.yaml", whole.substr(models, pools - models));
    write("pools.yaml", whole.substr(pools, routing - pools));
  }
  void write(const std::string& name, const std::string& text) const { write_file(folder.path() / name, text); }
  Scenario load(const std::string& name, const std::vector<std::string>& overrides = {}) const {
    return load_scenario(folder.file(name), source_catalog(), overrides);
  }
  /// The message without the folder.
  std::string fault(const std::string& name, const std::vector<std::string>& overrides = {}) const {
    try {
      load(name, overrides);
      return "no error";
    } catch (const ConfigError& error) {
      std::string text = error.what();
      const std::string place = folder.path().string() + "/";
      for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place))
        text.erase(at, place.size());
      return text;
    }
  }
};

}  // namespace

TEST_CASE("a scenario in several files is the scenario in one") {
  const Parts parts;
  const Scenario whole = loaded(sound_scenario()), joined = parts.load("main.yaml");
  CHECK(resolved_yaml(joined) == resolved_yaml(whole));
  CHECK(scenario_digest(joined) == scenario_digest(whole));
  CHECK(scenario_digest(parts.load("main.yaml", {"pools.a.replicas=3"})) != scenario_digest(whole));
}

TEST_CASE("included lists come first and own entries follow") {
  const Parts parts;
  parts.write("more.yaml", R"(version: 1
include: main.yaml
workload: {model: chat, class: slow, synth: {requests: 1, arrivals: {rate: 1/s}, prompt_tokens: 1, output_tokens: 1}}
seed: 8
)");
  const Scenario scenario = parts.load("more.yaml");
  REQUIRE(scenario.workload.size() == 2);
  CHECK(scenario.workload[0].cls == "fast");
  CHECK(scenario.workload[1].cls == "slow");
  CHECK(scenario.seed == 8);
}

TEST_CASE("a file that is included along two ways counts once") {
  const Parts parts;
  parts.write("top.yaml", "version: 1\ninclude: [pools.yaml, main.yaml, catalog/../pools.yaml]\n");
  CHECK(parts.load("top.yaml").pools.size() == 2);
}

TEST_CASE("files that an included file names are looked for beside it") {
  const Parts parts;
  parts.write("catalog/lengths.txt", "10,1\n");
  parts.write("catalog/load.yaml",
              "workload: {class: slow, synth: {requests: 1, arrivals: {rate: 1/s}, prompt_tokens: {distribution: "
              "empirical, file: lengths.txt}, output_tokens: 1}}\n");
  parts.write("top.yaml", "version: 1\ninclude: [main.yaml, catalog/load.yaml]\n");
  CHECK(parts.load("top.yaml").workload.size() == 2);
}

TEST_CASE("set changes single values of what is included, and options come last") {
  const Parts parts;
  parts.write("top.yaml", R"(version: 1
include: main.yaml
set:
  pools.a.replicas: 5
  models.chat.implementations.b: {pool: b, status: canary}
)");
  const Scenario scenario = parts.load("top.yaml");
  CHECK(scenario.pools[0].replicas == 5);
  CHECK(scenario.models[0].implementations[1].status == ImplementationStatus::kCanary);
  CHECK(parts.load("top.yaml", {"pools.a.replicas=6"}).pools[0].replicas == 6);
}

TEST_CASE("a fault in an included file names that file and its line") {
  const Parts parts;
  parts.write("pools.yaml", "pools:\n  - {name: a, acelerator: h100-sxm}\n");
  CHECK(parts.fault("main.yaml") == R"(pools.yaml:2:15: pools[0].acelerator: unknown key
  - {name: a, acelerator: h100-sxm}
              ^ did you mean "accelerator"?)");
}

TEST_CASE("an unknown section of an included file is an error there") {
  const Parts parts;
  parts.write("pools.yaml", "pool: []\n");
  CHECK(parts.fault("main.yaml") == "pools.yaml:1:1: pool: unknown key\npool: []\n^ did you mean \"pools\"?");
}

TEST_CASE("a file that is not there is an error at its name") {
  const Parts parts;
  parts.write("top.yaml", "version: 1\ninclude: [main.yaml, other.yaml]\n");
  CHECK(parts.fault("top.yaml") == R"(top.yaml:2:22: include[1]: there is no file "other.yaml"
include: [main.yaml, other.yaml]
                     ^)");
}

TEST_CASE("files that include each other are an error with their way") {
  const Parts parts;
  parts.write("a.yaml", "version: 1\ninclude: b.yaml\n");
  parts.write("b.yaml", "include: a.yaml\n");
  CHECK(parts.fault("a.yaml") == R"(b.yaml:1:10: include[0]: the file includes itself: a.yaml -> b.yaml -> a.yaml
include: a.yaml
         ^)");
}

TEST_CASE("a name that two files state is an error with the place of the first") {
  const Parts parts;
  parts.write("more.yaml",
              "pools: {name: a, accelerator: h100-sxm, engine: {kind: vllm, version: \"0.19\", args: "
              "{max_num_seqs: 1, max_num_batched_tokens: 8}}, price: none}\n");
  parts.write("top.yaml", "version: 1\ninclude: [main.yaml, more.yaml]\n");
  CHECK(parts.fault("top.yaml").substr(0, 70) ==
        "more.yaml:1:15: pools[2].name: the name \"a\" is taken in pools.yaml:2\np");
}

TEST_CASE("a section that two included files state is an error, unless the including file states it") {
  const Parts parts;
  parts.write("one.yaml", "seed: 1\n");
  parts.write("two.yaml", "seed: 2\n");
  parts.write("top.yaml", "version: 1\ninclude: [one.yaml, two.yaml]\n");
  CHECK(parts.fault("top.yaml") ==
        "two.yaml:1:1: seed: one.yaml states it too; the file that includes both must say which holds\nseed: 2\n^");
  parts.write("top.yaml", "version: 1\nseed: 3\ninclude: [one.yaml, two.yaml]\n");
  CHECK(parts.fault("top.yaml").find("two.yaml") == std::string::npos);
}

TEST_CASE("an included file of another version, or that is no mapping, is an error") {
  const Parts parts;
  parts.write("pools.yaml", "version: 2\n");
  CHECK(parts.fault("main.yaml") ==
        "pools.yaml:1:10: version: this program reads version 1, got \"2\"\nversion: 2\n         ^");
  parts.write("pools.yaml", "- a\n");
  CHECK(parts.fault("main.yaml").substr(0, 67) ==
        "pools.yaml:1:1: expected a mapping with sections of a scenario\n- a\n");
}

TEST_CASE("a path of set that leads nowhere is an error in the file") {
  const Parts parts;
  parts.write("top.yaml", "version: 1\ninclude: main.yaml\nset: {pools.c.replicas: 2}\n");
  CHECK(parts.fault("top.yaml") == R"(top.yaml:3:25: set.pools.c.replicas: "pools" has no entry "c"; one of a, b
set: {pools.c.replicas: 2}
                        ^)");
}

TEST_CASE("an option can neither include nor set") {
  const Parts parts;
  CHECK(parts.fault("main.yaml", {"include=pools.yaml"}) ==
        "--set include=pools.yaml: include: stands in files only, not in options");
}
