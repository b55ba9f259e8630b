// SPDX-License-Identifier: Apache-2.0
#include "scenarios/yaml.h"

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

using namespace poolcast;

namespace {

const char* const kText =
    "pools:\n"
    "  - name: a  # first\n"
    "    link: 900 GB/s\n"
    "  - {name: 'b c', link: \"1 TB/s\"}\n";

}  // namespace

TEST_CASE("a node knows its place, counted from 1, and its key path") {
  const YamlNode root = parse_yaml("f.yaml", kText);
  const YamlNode link = *root.find("pools")->items().at(1).find("link");
  CHECK(link.path() == "pools[1].link");
  CHECK(link.location().file == "f.yaml");
  CHECK(link.location().line == 4);
  CHECK(link.location().column == 25);
  CHECK(link.location().source_line == "  - {name: 'b c', link: \"1 TB/s\"}");
  CHECK(link.location(2).column == 28);  // behind the quote and "1 "
  CHECK(root.find("pools")->items()[1].key_location("link").column == 19);
  CHECK(root.find("pools")->items()[0].location().line == 2);
}

TEST_CASE("a byte order mark and Windows line ends change no place") {
  const YamlNode root = parse_yaml("f.yaml",
                                   "\xef\xbb\xbf"
                                   "a: 1\r\nbc: x\r\n");
  CHECK(root.find("a")->location().column == 4);
  CHECK(root.find("bc")->location().line == 2);
  CHECK(root.find("bc")->location().source_line == "bc: x");
  CHECK(root.find("bc")->text() == "x");
}

TEST_CASE("text stays as it is written") {
  const YamlNode root =
      parse_yaml("f.yaml", "{a: 0.20, b: '0.20', c: 007, d: yes, e: ~, f: null, g: 'null', h: \"x\\ty\"}");
  CHECK(root.find("a")->text() == "0.20");
  CHECK_FALSE(root.find("a")->quoted());
  CHECK(root.find("b")->quoted());
  CHECK(root.find("c")->text() == "007");
  CHECK(root.find("c")->integer() == 7);
  CHECK(root.find("d")->text() == "yes");
  CHECK(root.find("e")->is_null());
  CHECK(root.find("f")->is_null());
  CHECK(root.find("g")->text() == "null");
  CHECK(root.find("h")->text() == "x\ty");
}

TEST_CASE("whole numbers may be written as reals when they are whole") {
  const auto integer = [](const std::string& text) { return parse_yaml("f.yaml", "a: " + text).find("a")->integer(); };
  CHECK(integer("20000") == 20000);
  CHECK(integer("2e4") == 20000);
  CHECK(integer("2.0") == 2);
  CHECK(integer("+5") == 5);
  CHECK(integer("-5") == -5);
  CHECK(integer("9223372036854775807") == INT64_MAX);
  CHECK(integer("-9223372036854775808") == INT64_MIN);
  for (const char* bad : {"2.5", "1e300", "9223372036854775808", "inf", "nan", "0x10", "1 2", "+-1", "1_000", "''"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(integer(bad), ConfigError);
  }
}

TEST_CASE("numbers are finite and whole words") {
  const auto number = [](const std::string& text) { return parse_yaml("f.yaml", "a: " + text).find("a")->number(); };
  CHECK(number("2.5e-3") == 0.0025);
  CHECK(number(".5") == 0.5);
  for (const char* bad : {"1e400", ".inf", "-.inf", ".nan", "inf", "nan", "1,5", "2 s", "x", "''"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(number(bad), ConfigError);
  }
}

TEST_CASE("a single value stands for a list of one") {
  const YamlNode root = parse_yaml("f.yaml", "a: {b: 1}\nc: [x, y]\n");
  REQUIRE(root.find("a")->one_or_more().size() == 1);
  CHECK(root.find("a")->one_or_more()[0].path() == "a[0]");
  CHECK(root.find("c")->one_or_more().size() == 2);
}

TEST_CASE("an alias shares the value that it stands for") {
  const YamlNode root = parse_yaml("f.yaml", "a: &x {b: 1}\nc: *x\n");
  CHECK(root.find("c")->find("b")->integer() == 1);
  CHECK(root.find("c")->find("b")->path() == "c.b");
  CHECK(root.find("c")->find("b")->location().line == 1);
}

TEST_CASE("a changed copy leaves the original alone") {
  const YamlNode root = parse_yaml("f.yaml", "a: 1\nb: 2\n");
  const YamlNode nine = parse_yaml("option", "9", true);
  CHECK(root.with("a", nine).find("a")->integer() == 9);
  CHECK(root.with("c", nine).size() == 3);
  CHECK(root.without("a").size() == 1);
  CHECK(root.find("a")->integer() == 1);
  CHECK(root.size() == 2);
  CHECK(root.with("a", nine).find("a")->location().file == "option");
  CHECK(root.with("a", nine).find("a")->location().line == 0);
}

TEST_CASE("a reader of a mapping forgets no key that nobody asked for") {
  const YamlNode root = parse_yaml("f.yaml", "a: 1\nb: 2\n");
  MappingReader reader(root);
  CHECK(reader.required("a").integer() == 1);
  CHECK_FALSE(reader.optional("c").has_value());
  CHECK_THROWS_AS(reader.finish(), ConfigError);
  CHECK(reader.optional("b")->integer() == 2);
  CHECK_NOTHROW(reader.finish());
}

TEST_CASE("a long line is shown around the caret") {
  const std::string text = "a: [" + std::string(300, '1') + ", x]\n";
  try {
    parse_yaml("f.yaml", text).find("a")->items()[1].integer();
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) == "f.yaml:1:307: a[1]: expected a whole number, got \"x\"\n" +
                                           std::string(58, '1') + ", x]\n" + std::string(60, ' ') + "^");
  }
}

TEST_CASE("the caret stands under its letter after letters of several bytes") {
  try {
    parse_yaml("f.yaml", "grün: {ä: x}\n").find("grün")->find("ä")->integer();
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) ==
          "f.yaml:1:13: grün.ä: expected a whole number, got \"x\"\ngrün: {ä: x}\n          ^");
  }
}

TEST_CASE("the nearest spelling allows for one slip in a short word and for more in a long one") {
  const std::vector<std::string_view> known = {"replicas", "h100-sxm", "ms", "accelerator", "GB/s"};
  CHECK(nearest("replica", known) == "replicas");
  CHECK(nearest("rpelicas", known) == "replicas");
  CHECK(nearest("REPLICAS", known) == "replicas");
  CHECK(nearest("acelerrator", known) == "accelerator");
  CHECK(nearest("h100", known) == "h100-sxm");
  CHECK(nearest("msec", known) == "ms");
  CHECK(nearest("Gb/s", known) == "GB/s");
  CHECK(nearest("m", known).empty());
  CHECK(nearest("latency", known).empty());
  CHECK(nearest("", known).empty());
}

TEST_CASE("text from a file is shown in a message without what a terminal cannot show, and cut") {
  CHECK(quote("a\nb\x1b") == "\"a\\nb\\x1b\"");
  CHECK(quote("\xc3\xa9 \xff \xc2\x9b") == "\"\xc3\xa9 \\xff \\xc2\\x9b\"");
  CHECK(quote(std::string(100, 'x')) == "\"" + std::string(80, 'x') + "…\"");
}

TEST_CASE("the caret stands below its place in a line with bytes that cannot be shown") {
  const Location at{"f", 1, 7, "a\tb\x80\r c"};
  CHECK(std::string(ConfigError(at, "", "wrong").what()) == "f:1:7: wrong\na\tb\\x80\\x0d c\n \t          ^");
}

TEST_CASE("a file of many entries keeps them all") {
  std::string text;
  for (int i = 0; i < 700; ++i)
    text += "- {name: accelerator-" + std::to_string(i) + ", memory: 80 GB, peak: 989 TFLOP/s}\n";
  CHECK(parse_yaml("f.yaml", text).size() == 700);
}

TEST_CASE("a file is read whole") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("s.yaml");
  testing::write_file(path, "a: [1, 2, 3]\n");
  CHECK(load_yaml_file(path).find("a")->size() == 3);
}
