// SPDX-License-Identifier: Apache-2.0
// Faults between two places of a scenario, and faults of whole files.
#include <catch2/catch.hpp>

#include "scenarios/load.h"
#include "tests/support/scenario_text.h"

using poolcast::testing::changed;
using poolcast::testing::fault;
using poolcast::testing::fault_of;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

const char* const kArgs = "max_num_batched_tokens: 8192}}\n    curves";

}  // namespace

TEST_CASE("the sound scenario is sound, so each test of a fault shows its one change") {
  CHECK(fault_of(poolcast::testing::sound_scenario()) == "no error");
}

TEST_CASE("a KV type that contradicts the implementation is an error") {
  const std::string text = changed(kArgs, "max_num_batched_tokens: 8192, kv_cache_dtype: fp8}}\n    curves");
  CHECK(fault_of(replaced(text, "precision: fp8}", "precision: fp8, kv_precision: int8}")) ==
        "s.yaml:27:114: pools[0].engine.args.kv_cache_dtype: contradicts kv_precision int8 of the implementation on "
        "this pool\n"
        "    engine: {kind: vllm, version: \"0.19\", args: {max_num_seqs: 64, max_num_batched_tokens: 8192, "
        "kv_cache_dtype: fp8}}\n"
        "                                                                                                              "
        "   ^");
}

TEST_CASE("a listed price that the list leaves blank is an error") {
  const std::string text = changed("accelerator: h100-sxm", "accelerator: h200-sxm");
  CHECK(
      fault_of(replaced(text, "{reserved: $2.10/h per device}", "{list: aws/p5e.48xlarge}")) ==
      R"(s.yaml:29:19: pools[0].price.list: the list has no on-demand price for aws/p5e.48xlarge: no on-demand price is listed
    price: {list: aws/p5e.48xlarge}
                  ^)");
}

TEST_CASE("a roofline of a model without a shape is an error even where the KV blocks are stated") {
  std::string text = changed("    shape: llama-3.1-8b\n", "");
  for (int pool = 0; pool < 2; ++pool) {
    text =
        replaced(text, "max_num_batched_tokens: 8192}}", "max_num_batched_tokens: 8192, num_gpu_blocks_override: 99}}");
  }
  CHECK(fault_of(text) ==
        R"(s.yaml:27:13: pools[0].curves: a roofline needs the shape of model "chat", and it has none
    curves: roofline
            ^)");
}

TEST_CASE("a link that nobody stated is an error once the layout needs it") {
  CHECK(
      fault("accelerator: mi300x",
            "accelerator: {name: toy, bf16: 100 TFLOP/s, memory: 64 GB, memory_bandwidth: 1 TB/s}\n"
            "    layout: {tp: 2}") ==
      R"(s.yaml:31:18: pools[1].accelerator: scale-up link bandwidth of toy is missing: no source states it; a scenario may state it itself
    accelerator: {name: toy, bf16: 100 TFLOP/s, memory: 64 GB, memory_bandwidth: 1 TB/s}
                 ^)");
}

TEST_CASE("an empty file is an error") { CHECK(fault_of("") == "s.yaml: the file is empty"); }

TEST_CASE("a file of comments is an error") { CHECK(fault_of("# nothing yet\n\n") == "s.yaml: the file is empty"); }

TEST_CASE("a file that holds a list is an error") {
  CHECK(fault_of("- version: 1\n") == "s.yaml:1:1: expected a mapping, got a list\n- version: 1\n^");
}

TEST_CASE("a file that is not UTF-8 is an error") {
  CHECK(fault_of("version: 1\nname: caf\xe9\n") == "s.yaml:2: not plain UTF-8 text: byte 0xe9");
  CHECK(fault_of("version: 1\nname: \xc0\xaf\n") == "s.yaml:2: not plain UTF-8 text: byte 0xc0");
}

TEST_CASE("a binary file is an error") {
  CHECK(fault_of(std::string("\0\1\2", 3)) == "s.yaml:1: not plain UTF-8 text: byte 0x00");
}

TEST_CASE("nesting without end is an error and no stack overflow") {
  const std::string open(100'000, '['), close(100'000, ']');
  CHECK(fault_of("version: 1\nseed: " + open + close).substr(0, 45) ==
        "s.yaml:2:70: nested more than 64 levels deep\n");
  CHECK(fault_of("version: 1\nseed: " + open).substr(0, 74) ==
        "s.yaml:2:8: a list or a mapping cannot be a key; is a bracket not closed?\n");
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  CHECK(fault_of(dashes).substr(0, 45) == "s.yaml:1:129: nested more than 64 levels deep");
}

TEST_CASE("aliases that multiply are an error and no memory leak") {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char key = 'b'; key <= 'z'; ++key) {
    const std::string alias = std::string("*") + static_cast<char>(key - 1);
    text += std::string(1, key) + ": &" + key + " [" + alias;
    for (int i = 0; i < 9; ++i) text += ", " + alias;
    text += "]\n";
  }
  CHECK(fault_of(text) ==
        R"(s.yaml:6:4: more than 1000000 values once aliases are expanded
f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
   ^)");
}

TEST_CASE("a file that is not there is an error") {
  try {
    poolcast::load_scenario("/no/such/folder/s.yaml", poolcast::testing::source_catalog());
    FAIL("no error");
  } catch (const poolcast::FileError& error) {
    CHECK(std::string(error.what()) == "/no/such/folder/s.yaml: cannot read the file: No such file or directory");
  }
}

TEST_CASE("a folder in place of the file is an error") {
  try {
    poolcast::load_scenario("/", poolcast::testing::source_catalog());
    FAIL("no error");
  } catch (const poolcast::FileError& error) {
    CHECK(std::string(error.what()) == "/: cannot read the file: Is a directory");
  }
}

TEST_CASE("a file without end is an error and no memory leak") {
  try {
    poolcast::load_scenario("/dev/zero", poolcast::testing::source_catalog());
    FAIL("no error");
  } catch (const poolcast::FileError& error) {
    CHECK(std::string(error.what()) == "/dev/zero: cannot read the file: larger than 64 MiB");
  }
}
