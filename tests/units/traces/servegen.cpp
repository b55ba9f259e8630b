// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/support/goodness_of_fit.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr const char* kTables = R"({"0": {"input_tokens": "{10: 0.25, 20: 0.75}", "output_tokens": "{5: 1.0}"},
  "1200": {"input_tokens": "{30: 1.0}", "output_tokens": "{7: 0.5, 9: 0.5}"}})";

struct ServeGenFolder {
  ServeGenFolder() { spec.file = folder.path().string(); }
  void client(int number, const std::string& rates, const std::string& tables) const {
    const std::string start = "chunk-" + std::to_string(number);
    write_file(folder.file(start + "-trace.csv.gz"), gzipped(rates));
    if (!tables.empty()) write_file(folder.file(start + "-dataset.json.gz"), gzipped(tables));
  }
  TemporaryFolder folder;
  TraceSpec spec;
};

}  // namespace

TEST_CASE("ServeGen: every interval brings as many requests as its rate says, with the lengths of its time") {
  const ServeGenFolder folder;
  folder.client(0, "0,0.5,1,Gamma,1,2\n600,0,0,,0,0\n1200,2,2.5,Weibull,0.5,0.25\n1800,0.01,0.5,Gamma,4,25\n", kTables);
  std::map<int, int> rows;
  for (const auto& row : read_all(folder.spec)) {
    ++rows[static_cast<int>(row.timestamp.value / 600)];
    if (row.timestamp.value < 1200) {
      CHECK((row.prompt_tokens == 10 || row.prompt_tokens == 20));
      CHECK(row.output_tokens == 5);
    } else {
      CHECK(row.prompt_tokens == 30);
      CHECK((row.output_tokens == 7 || row.output_tokens == 9));
    }
  }
  CHECK(rows == std::map<int, int>{{0, 300}, {2, 1200}, {3, 6}});
}

TEST_CASE("ServeGen: gaps have the shape that is stated") {
  for (const auto& [distribution, shape, cv] :
       {std::tuple("Gamma", 0.25, 2.0), std::tuple("Gamma", 4.0, 0.5), std::tuple("Weibull", 0.6, 1.758)}) {
    const ServeGenFolder folder;
    folder.client(3, "0,100,1," + std::string(distribution) + "," + std::to_string(shape) + ",1\n", kTables);
    std::vector<double> gaps;
    double last = -1;
    for (const auto& row : read_all(folder.spec)) {
      if (last >= 0) gaps.push_back(row.timestamp.value - last);
      last = row.timestamp.value;
    }
    REQUIRE(gaps.size() == 59'999);
    CHECK(test::cv_of(gaps) == Approx(cv).epsilon(0.03));
  }
}

TEST_CASE("ServeGen: gaps fill their interval exactly, the last one included") {
  const ServeGenFolder folder;
  std::string rates;
  for (int i = 0; i < 500; ++i) rates += std::to_string(i * 600) + ",0.03333333333333333,1,Gamma,0.5,2\n";
  folder.client(0, rates, kTables);
  const auto rows = read_all(folder.spec);
  REQUIRE(rows.size() == 10'000);
  double sum = 0;
  for (const auto& row : rows) {
    const double place = std::fmod(row.timestamp.value, 600) / 600;
    sum += place;
    REQUIRE(place < 1);
  }
  const auto at_an_edge = [](const TraceRow& row) { return std::fmod(row.timestamp.value, 600) < 1e-9; };
  CHECK(std::count_if(rows.begin(), rows.end(), at_an_edge) < 10);
  CHECK(sum / 10'000 == Approx(0.5).margin(0.02));
}

TEST_CASE("ServeGen: clients are merged by time, and the prompt of a multimodal request is the sum of its parts") {
  const ServeGenFolder folder;
  folder.client(0, "0,1,1,Gamma,1,1\n600,1,1,Gamma,1,1\n", kTables);
  folder.client(12, "0,2,1,Gamma,1,1\n600,1,1,Gamma,1,1\n",
                R"({"0": {"text_tokens": "{100: 1.0}", "image_tokens": "{0: 0.5, 1000: 0.5}", "audio_tokens": "{0: 1}",
                   "video_tokens": "{0: 1.0}", "image_count": "{1: 1.0}", "output_tokens": "{8: 1.0}"}})");
  int small = 0, with_image = 0;
  double last = 0;
  for (const auto& row : read_all(folder.spec)) {
    CHECK(row.timestamp.value >= last);
    last = row.timestamp.value;
    small += row.prompt_tokens == 100;
    with_image += row.prompt_tokens == 1100;
  }
  CHECK(small + with_image == 1800);
  CHECK(std::abs(small - 900) < 4 * std::sqrt(450));
}

TEST_CASE("ServeGen: the same seed draws the same rows, and a window draws the same rows of its time") {
  ServeGenFolder folder;
  std::string rates;
  for (int i = 0; i < 20; ++i) rates += std::to_string(i * 600) + ",0.5,1,Gamma,0.5,2\n";
  folder.client(0, rates, kTables);
  folder.spec.seed = 5;
  const auto all = read_all(folder.spec), again = read_all(folder.spec);
  REQUIRE(all.size() == 6000);
  folder.spec.window_begin = Seconds(6000);
  folder.spec.window_end = Seconds(9000);
  const auto source = make_trace_source(folder.spec, ClassId(0u), 0, 5, "trace");
  const auto arrivals = replay(*source);
  CHECK(arrivals.size() == 1500);
  CHECK(arrivals[0].intended == 0);
  CHECK(all[3000].timestamp == again[3000].timestamp);
  CHECK(arrivals[0].prompt_tokens == all[3000].prompt_tokens);
  CHECK(std::abs(arrivals[1499].intended - to_sim_time(all[4499].timestamp - all[3000].timestamp)) <= 1);
  folder.spec.seed = 6;
  folder.spec.window_begin = Seconds(0);
  CHECK(read_all(folder.spec)[3000].timestamp != all[3000].timestamp);
}

TEST_CASE("ServeGen: clients and intervals without tables stop the run, or are left out and counted") {
  ServeGenFolder folder;
  folder.client(0, "0,1,1,Gamma,1,1\n", kTables);
  folder.client(1, "0,1,1,Gamma,1,1\n600,1,1,Gamma,1,1\n1200,0,0,,0,0\n", "");
  CHECK_THAT(error_of(folder.spec),
             Catch::Contains("chunk-1-trace.csv.gz:1: the client 1 has a rate but no file of length tables"));
  folder.client(
      1, "0,1,1,Gamma,1,1\n600,1,1,Gamma,1,1\n",
      R"({"0": {"input_tokens": "{}", "output_tokens": "{}"}, "600": {"input_tokens": "{4: 1.0}", "output_tokens": "{4: 1.0}"}})");
  CHECK_THAT(error_of(folder.spec),
             Catch::Contains("chunk-1-trace.csv.gz:1: an interval with a rate but no length table"));
  folder.spec.on_bad_row = TraceSpec::BadRow::kSkip;
  const auto reader = open_trace(folder.spec);
  int rows = 0;
  for (TraceRow row; reader->next(row); ++rows) {
  }
  CHECK(rows == 1200);
  CHECK(reader->skipped_rows() == 1);
}

TEST_CASE("ServeGen: bad rows and tables are named") {
  const auto error = [](const std::string& rates, const std::string& tables) {
    const ServeGenFolder folder;
    folder.client(0, rates, tables);
    return error_of(folder.spec);
  };
  CHECK_THAT(error("0,1,1,Gama,1,1\n", kTables),
             Catch::Contains("csv.gz:1:7: \"Gama\" is no known distribution; did you mean \"Gamma\"?"));
  CHECK_THAT(error("0,1,1,Gamma,0,1\n", kTables), Catch::Contains(":1:13: \"0\" is no shape"));
  CHECK_THAT(error("0,-1,1,Gamma,1,1\n", kTables), Catch::Contains(":1:3: \"-1\" is no rate"));
  CHECK_THAT(error("0,1,1,Gamma,1\n", kTables), Catch::Contains(":1:1: a row has 6 fields"));
  CHECK_THAT(error("600,1,1,Gamma,1,1\n0,1,1,Gamma,1,1\n", kTables),
             Catch::Contains(":2:1: not later than the row before"));
  for (const char* table : {"{10 0.5}", "{10: 0.5", "{-1: 1.0}", "{10: x}", "10: 1", "{10: 0.0}", "{10: 1.0} x"}) {
    const std::string tables = R"({"0": {"input_tokens": ")" + std::string(table) + R"(", "output_tokens": "{1: 1}"}})";
    CHECK_THAT(error("0,1,1,Gamma,1,1\n", tables),
               Catch::Contains("0.input_tokens: ") && Catch::Contains("is no table of tokens"));
  }
  CHECK_THAT(error("0,1,1,Gamma,1,1\n", "[]"), Catch::Contains("no JSON object"));
}
