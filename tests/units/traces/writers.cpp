// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/writer.h"

#include <catch2/catch.hpp>

#include "scenarios/error.h"
#include "sim/random.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// Rows with every field set in some of them, over more than one chunk of HDF5.
std::vector<TraceRow> some_rows(std::size_t count) {
  RandomStream random(1, "rows");
  std::vector<TraceRow> rows(count);
  SimTime now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    TraceRow& row = rows[i];
    now += static_cast<SimTime>(random.below(3'000'000'000));
    row.line = i + 1;
    row.timestamp = to_seconds(i == 0 ? 0 : now);
    row.prompt_tokens = 1 + static_cast<std::int64_t>(random.below(5000));
    row.output_tokens = 1 + static_cast<std::int64_t>(random.below(500));
    if (i > count / 2 && i % 7 == 0) row.has_priority = true, row.priority = static_cast<int>(i % 5) - 2;
    if (i % 3 == 0) row.session = i % 11;
    if (i % 6 == 3) row.think_time = to_seconds(static_cast<SimTime>(random.below(1'000'000'000)));
    if (i % 1000 == 999) row.after_session = 4;
    if (i % 4 == 1) row.model = i % 8 == 1 ? "say \"hi\", m\xC3\xBCller" : "plain";
    if (i % 5 == 2) {
      for (std::int64_t block = 0; block < row.prompt_tokens / 64; ++block) row.hash_ids.push_back(random.next());
    }
  }
  return rows;
}

void write(const std::string& path, TraceFormat format, const std::vector<TraceRow>& rows) {
  const auto writer = make_trace_writer(path, format, 64);
  for (const TraceRow& row : rows) writer->write(row);
  writer->close();
}

void check_same(const std::vector<TraceRow>& read, const std::vector<TraceRow>& written, bool is_csv) {
  REQUIRE(read.size() == written.size());
  std::size_t differing = 0;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const TraceRow &a = read[i], &b = written[i];
    const bool same = to_sim_time(a.timestamp) == to_sim_time(b.timestamp) && a.prompt_tokens == b.prompt_tokens &&
                      a.output_tokens == b.output_tokens && a.has_priority == b.has_priority &&
                      a.priority == b.priority && a.session == b.session && a.model == b.model &&
                      (a.think_time.value < 0) == (b.think_time.value < 0) &&
                      to_sim_time(a.think_time) == to_sim_time(b.think_time) &&
                      (is_csv || (a.hash_ids == b.hash_ids && a.after_session == b.after_session));
    if (!same && differing++ == 0) FAIL_CHECK("row " << i << " differs");
  }
}

}  // namespace

TEST_CASE("What is written in one of poolcast's own formats is read back the same") {
  const auto rows = some_rows(150'000);
  const TemporaryFolder folder;
  for (const char* name : {"t.csv", "t.jsonl", "t.h5", "t.csv.gz", "t.jsonl.gz"}) {
    CAPTURE(name);
    const TraceFormat format = format_of_name(name);
    write(folder.file(name), format, rows);
    TraceSpec spec;
    spec.file = folder.file(name);
    TraceFormat detected{};
    CHECK(open_trace(spec, &detected)->block_tokens() == (format == TraceFormat::kCsv ? 0 : 64));
    CHECK(detected == format);
    check_same(read_all(spec), rows, format == TraceFormat::kCsv);
  }
  CHECK(folder.names().size() == 5);
  CHECK(read_file(folder.file("t.csv.gz")).substr(0, 2) == "\x1f\x8b");
}

TEST_CASE("The same rows give the same bytes") {
  const auto rows = some_rows(70'000);
  const TemporaryFolder folder;
  for (const char* name : {"t.csv", "t.jsonl.gz", "t.h5"}) {
    write(folder.file(name), format_of_name(name), rows);
    const std::string first = read_file(folder.file(name));
    write(folder.file(name), format_of_name(name), rows);
    CHECK((first == read_file(folder.file(name))));
  }
}

TEST_CASE("CSV counts the hash ids that it cannot keep") {
  const auto rows = some_rows(2000);
  const TemporaryFolder folder;
  const auto writer = make_trace_writer(folder.file("t.csv"), TraceFormat::kCsv, 64);
  for (const TraceRow& row : rows) writer->write(row);
  writer->close();
  CHECK(writer->lost_hash_ids() > 300);
  CHECK(writer->lost_callers() == 2);
}

TEST_CASE("A trace that is not closed leaves nothing behind, and an empty one is a file with no rows") {
  const TemporaryFolder folder;
  for (const char* name : {"t.csv", "t.h5"}) {
    { make_trace_writer(folder.file(name), format_of_name(name), 0)->write(some_rows(1)[0]); }
    CHECK(folder.names().empty());
  }
  for (const char* name : {"t.csv", "t.h5"}) {
    write(folder.file(name), format_of_name(name), {});
    TraceSpec spec;
    spec.file = folder.file(name);
    CHECK(read_all(spec).empty());
  }
  CHECK_THROWS_AS(make_trace_writer(folder.file("no/such/t.csv"), TraceFormat::kCsv, 0), FileError);
}

TEST_CASE("A file that is HDF5 but no trace, or damaged, is an error") {
  const TemporaryFolder folder;
  write(folder.file("t.h5"), TraceFormat::kHdf5, some_rows(100));
  TraceSpec spec;
  spec.file = folder.file("cut.h5");
  write_file(spec.file, read_file(folder.file("t.h5")).substr(0, 3000));
  CHECK_THAT(error_of(spec), Catch::Contains("cut.h5: is no HDF5 file, or a damaged one"));
  spec.format = TraceFormat::kHdf5;
  write_file(spec.file, "timestamp_s\n");
  CHECK_THAT(error_of(spec), Catch::Contains("cut.h5: is no HDF5 file"));
}

TEST_CASE("Names tell the format to write") {
  CHECK(format_of_name("a/b.csv") == TraceFormat::kCsv);
  CHECK(format_of_name("b.jsonl.gz") == TraceFormat::kJsonl);
  CHECK(format_of_name("b.hdf5") == TraceFormat::kHdf5);
  CHECK(format_of_name("b.txt") == TraceFormat::kAuto);
  CHECK(format_of_name(".csv") == TraceFormat::kAuto);
}
