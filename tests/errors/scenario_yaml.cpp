// SPDX-License-Identifier: Apache-2.0
// Text that is no YAML, or no plain YAML.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

TEST_CASE("a duplicate key, which points back at the first is an error") {
  CHECK(fault("    replicas: 2\n", R"(    replicas: 2
    replicas: 3
)") ==
        R"(s.yaml:27:5: duplicate key "replicas"; the first is in line 26
    replicas: 3
    ^)");
}

TEST_CASE("a duplicate key in one line is an error") {
  CHECK(fault("layout: {tp: 1}", "layout: {tp: 1, pp: 1, tp: 2}") ==
        R"(s.yaml:25:28: duplicate key "tp"; the first is in line 25
    layout: {tp: 1, pp: 1, tp: 2}
                           ^)");
}

TEST_CASE("a tab as indentation is an error") {
  CHECK(fault("    replicas: 2\n", "	replicas: 2\n") ==
        R"(s.yaml:26:2: not valid YAML: a tab cannot indent, only blanks can
	replicas: 2
	^)");
}

TEST_CASE("wrong indentation is an error") {
  CHECK(fault("    replicas: 2\n", "   replicas: 2\n") ==
        R"(s.yaml:26:4: not valid YAML: the indentation does not fit the lines above
   replicas: 2
   ^)");
}

TEST_CASE("a bracket that is not closed is an error") {
  CHECK(fault("layout: {tp: 1}", "layout: {tp: 1") ==
        R"(s.yaml:26:13: not valid YAML: a "{" is not closed, or a comma is missing
    replicas: 2
            ^)");
}

TEST_CASE("a colon too many is an error") {
  CHECK(fault("replicas: 2", "replicas: a: 2") ==
        R"(s.yaml:26:16: not valid YAML: a ":" where no value can begin; text that holds one needs quotes
    replicas: a: 2
               ^)");
}

TEST_CASE("an alias that stands for nothing is an error") {
  CHECK(fault("replicas: 2", "replicas: *two") ==
        R"(s.yaml:26:15: not valid YAML: this alias stands for nothing; no anchor has its name
    replicas: *two
              ^)");
}

TEST_CASE("an alias inside its own value is an error") {
  CHECK(fault("layout: {tp: 1}", "layout: &l {tp: *l}") ==
        R"(s.yaml:25:21: an alias inside the value that it stands for
    layout: &l {tp: *l}
                    ^)");
}

TEST_CASE("a tag is an error") {
  CHECK(fault("replicas: 2", "replicas: !int 2") ==
        R"(s.yaml:26:15: the tag "!int" is not supported
    replicas: !int 2
              ^)");
}

TEST_CASE("a list as a key is an error") {
  CHECK(fault("layout: {tp: 1}", "layout: {[tp]: 1}") ==
        R"(s.yaml:25:14: a list or a mapping cannot be a key; is a bracket not closed?
    layout: {[tp]: 1}
             ^)");
}

TEST_CASE("a second document is an error") {
  CHECK(fault("routing:\n", R"(---
routing:
)") == R"(s.yaml: holds more than one YAML document)");
}

TEST_CASE("a control character is an error") {
  CHECK(fault(R"(name: chat
    shape)",
              "name: \"ch\x01"
              "at\"\n    shape") == R"(s.yaml:12: not plain UTF-8 text: byte 0x01)");
}
