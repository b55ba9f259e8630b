// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/line_reader.h"

#include <catch2/catch.hpp>

#include "scenarios/error.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

}  // namespace

TEST_CASE("Lines end in LF or CR LF, and the last one may have no end") {
  const TraceFile file(
      "\xEF\xBB\xBF"
      "a\r\nb\n\nlast");
  CHECK(lines_of(file.spec.file) == std::vector<std::string>{"a", "b", "", "last"});
  LineReader reader(file.spec.file);
  std::string_view line;
  while (reader.next(line)) {
  }
  CHECK(reader.number() == 4);
  CHECK(reader.crlf_lines() == 1);
  CHECK(reader.first_crlf_line() == 1);
  CHECK(reader.ended_without_newline());
  CHECK(lines_of(TraceFile("").spec.file).empty());
}

TEST_CASE("gzip is read by its magic bytes, whatever the name") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i) + "\n";
  const TraceFile packed(gzipped(text), "trace.csv"), plain(text, "trace.gz");
  const auto lines = lines_of(packed.spec.file);
  REQUIRE(lines.size() == 100'000);
  CHECK(lines[99'999] == "line 99999");
  CHECK(lines == lines_of(plain.spec.file));
}

TEST_CASE("A line that is longer than the buffer is whole") {
  const std::string longer(3 << 20, 'x');
  const TraceFile file("first\n" + longer + "\nlast\n");
  CHECK(lines_of(file.spec.file) == std::vector<std::string>{"first", longer, "last"});
}

TEST_CASE("A line of more than 64 MiB is an error that names it") {
  const TraceFile file(gzipped("first\n" + std::string((64u << 20) + 10, 'x')));
  CHECK_THROWS_WITH(lines_of(file.spec.file), Catch::Contains(":2: the line is longer than 64 MiB"));
}

TEST_CASE("gzip data that end in the middle, or are damaged, are an error") {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919) + "\n";
  const std::string packed = gzipped(text);
  CHECK_THROWS_WITH(lines_of(TraceFile(packed.substr(0, packed.size() / 2)).spec.file),
                    Catch::Contains("gzip data end in the middle"));
  std::string damaged = packed;
  for (std::size_t i = 2000; i < 2100; ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
  CHECK_THROWS_WITH(lines_of(TraceFile(damaged).spec.file), Catch::Contains("cannot be read"));
}

TEST_CASE("A file that is not there, and a folder, are errors that name it") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(LineReader(folder.file("none")), Catch::Contains("none: cannot be opened: No such file"));
  CHECK_THROWS_WITH(LineReader(folder.path().string()), Catch::Contains("is a folder, not a file"));
}
