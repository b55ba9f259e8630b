// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "scenarios/human.h"
#include "scenarios/json_text.h"
#include "scenarios/summary_json.h"
#include "scenarios/summary_text.h"
#include "scenarios/text_table.h"
#include "tests/support/example_report.h"

using namespace poolcast;
using poolcast::testing::example_run;
using poolcast::testing::ExampleRun;
using Json = nlohmann::ordered_json;

namespace {

Json json_of(const ExampleRun& run) { return Json::parse(summary_json(summarise(run.report, run.facts))); }

std::string text_of(const ExampleRun& run) { return summary_text(summarise(run.report, run.facts)); }

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> found;
  for (const auto& [key, value] : object.items()) found.push_back(key);
  return found;
}

/// The keys of the contract come first in their order; keys may be added, also between.
void check_order(const Json& object, const std::vector<std::string>& contract) {
  const std::vector<std::string> found = keys(object);
  std::size_t at = 0;
  for (const std::string& key : found) at += at < contract.size() && key == contract[at];
  INFO("reached " << at << " of " << contract.size() << " in " << object.dump());
  CHECK(at == contract.size());
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

}  // namespace

TEST_CASE("summary.json has the members of the public contract in their order") {
  const Json json = json_of(example_run());
  check_order(json, {"poolcast", "schema", "seed", "scenario_digest", "requests", "latency", "throughput", "cost",
                     "classes", "models", "pools", "validity", "engine"});
  check_order(json["requests"], {"offered", "completed", "accepted", "rejected", "failed", "timed_out", "cancelled"});
  check_order(json["latency"], {"ttft_s", "tpot_s", "itl_s", "e2e_s", "queue_delay_s"});
  for (const auto& [metric, block] : json["latency"].items()) {
    check_order(block, {"mean", "p50", "p90", "p95", "p99", "max", "count", "relative_error"});
  }
  check_order(json["throughput"], {"requests_per_s", "output_tokens_per_s", "goodput_requests_per_s", "goodput_share"});
  check_order(json["cost"],
              {"total_usd", "per_hour_usd", "per_accepted_output_usd", "per_million_accepted_tokens_usd", "lines"});
  for (const Json& pool : json["pools"]) check_order(pool, {"name", "prefix_hit_rate", "gates", "native"});
  check_order(json["validity"], {"stationary", "extrapolated_step_share", "curves", "notes"});
  check_order(json["engine"], {"steps", "leaps", "events", "fidelity"});
}

TEST_CASE("summary.json holds counts as integers and times in seconds to the nanosecond") {
  const Json json = json_of(example_run());
  CHECK(json["seed"].is_number_unsigned());
  CHECK(json["requests"]["offered"] == 1500);
  CHECK(json["requests"]["offered"].is_number_integer());
  CHECK(json["requests"]["reasons"] == Json{{"queue_full", 100}, {"stalled", 100}});
  CHECK(json["latency"]["ttft_s"]["max"].dump() == "12.0");
  CHECK(json["latency"]["tpot_s"]["max"].dump() == "0.04");
  CHECK(json["latency"]["tpot_s"]["count"] == 1300);
  CHECK(json["classes"][0]["objectives"][0]["percentile"].dump() == "99");
  CHECK(json["classes"][1]["objectives"][0]["percentile"].dump() == "99.5");
  CHECK(json["classes"][1]["objectives"][0]["achieved_s"].is_null());
  CHECK(json["classes"][1]["objectives"][0]["met"] == false);
  CHECK(json["pools"][0]["by_replica"].size() == 2);
  CHECK(json["pools"][0]["devices"] == 8);
  CHECK(json["validity"]["windows"].size() == 2);
}

TEST_CASE("A figure that does not exist is null in summary.json, never zero") {
  ExampleRun run = example_run();
  run.facts.pools[0].price_per_device.reset();
  const Json json = json_of(run);
  CHECK(json["cost"]["total_usd"].is_null());
  CHECK(json["cost"]["lines"][0]["total_usd"].is_null());
  CHECK(json["cost"]["lines"][1]["total_usd"].is_number());
  CHECK(json["pools"][2]["latency"]["ttft_s"]["p99"].is_null());
  CHECK(json["pools"][2]["latency"]["ttft_s"]["count"] == 0);
  CHECK(json["pools"][2]["use"]["mean_batch"].is_null());
  CHECK(json["pools"][0]["prefix_hit_rate"].is_null());
}

TEST_CASE("Latencies from the instant of sending appear when a client was capped") {
  ExampleRun run = example_run();
  CHECK_FALSE(json_of(run)["latency"].contains("ttft_from_sent_s"));
  CHECK(text_of(run).find("from sent") == std::string::npos);
  run.report.cells[0][0].latencies[Metric::kTtftFromSent].add(kNanosPerSecond);
  CHECK(json_of(run)["latency"]["ttft_from_sent_s"]["count"] == 1);
  CHECK(text_of(run).find("TTFT from sent") != std::string::npos);
}

TEST_CASE("JSON text is on one line where it fits, and reads back as it was") {
  CHECK(json_text(Json::object()) == "{}\n");
  CHECK(json_text(Json{{"a", 1}, {"b", {1.5, nullptr, "x\n"}}}) == "{\"a\": 1, \"b\": [1.5, null, \"x\\n\"]}\n");
  const Json wide = {{"first", std::string(100, 'x')}, {"second", {{"third", std::string(100, 'y')}}}};
  CHECK(lines(json_text(wide)).size() == 4);
  CHECK(Json::parse(json_text(wide)) == wide);
  CHECK(json_text(Json("bad \xff byte")) == "\"bad \xEF\xBF\xBD byte\"\n");
}

TEST_CASE("The text of a summary keeps to the width of a terminal, whatever the names") {
  ExampleRun run = example_run();
  run.facts.pools[0].name = std::string(70, 'n');
  run.facts.classes[0].name = "ein-sehr-langer-Name-für-eine-Klasse-von-Anfragen-die-niemand-braucht";
  run.facts.scenario = std::string(200, 's');
  run.report.stationary = false;
  for (const std::string& line : lines(text_of(run))) {
    INFO(line);
    if (line.find(std::string(70, 'n')) == std::string::npos) CHECK(columns_of(line) <= kTextColumns);
    CHECK((line.empty() || line.back() != ' '));
  }
}

TEST_CASE("The text of a summary puts warnings before figures and says which objectives were missed") {
  const std::string text = text_of(example_run());
  CHECK(text.find("WARNING") < text.find("Requests"));
  CHECK(text.find("  chat: TTFT p99     2.00 s    2.40 s        90.0 %  MISSED\n") != std::string::npos);
  CHECK(text.find("  batch: E2E p99.5    600 s     never        60.0 %  MISSED\n") != std::string::npos);
  CHECK(text.find("$44.00/h, $1.22 in all") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("A table aligns its columns and cuts a first cell that is too long") {
  TextTable table({"Pools", "n"});
  table.row({"größer", "1"});
  table.row({"b", "1,000"});
  CHECK(table.text() ==
        "Pools         n\n"
        "  größer      1\n"
        "  b       1,000\n");
  CHECK(shortened("abcdefghij", 7) == "abc..ij");
  CHECK(shortened("äöüäöüäöüä", 7) == "äöü..üä");
  CHECK(shortened("short", 7) == "short");
  CHECK(wrapped("- ", "one two") == "- one two\n");
}

TEST_CASE("Numbers for people have three digits and a unit") {
  CHECK(human_count(0) == "0");
  CHECK(human_count(999) == "999");
  CHECK(human_count(1'000) == "1,000");
  CHECK(human_count(1'234'567) == "1,234,567");
  CHECK(human_number(0) == "0");
  CHECK(human_number(0.01234) == "0.0123");
  CHECK(human_number(9.996) == "10.0");
  CHECK(human_number(999.4) == "999");
  CHECK(human_number(999.6) == "1,000");
  CHECK(human_number(1234567.8) == "1,234,568");
  CHECK(human_seconds(0.0000004) == "0.000400 ms");
  CHECK(human_seconds(0.000412) == "0.412 ms");
  CHECK(human_seconds(0.0412) == "41.2 ms");
  CHECK(human_seconds(0.9994) == "999 ms");
  CHECK(human_seconds(0.9996) == "1.00 s");
  CHECK(human_seconds(412) == "412 s");
  CHECK(human_seconds(4140) == "1.15 h");
  CHECK(human_span(41.23) == "41.2 s");
  CHECK(human_span(59.97) == "1 min 00 s");
  CHECK(human_span(3435.9) == "57 min 16 s");
  CHECK(human_span(3599.6) == "1 h 00 min");
  CHECK(human_span(86'399) == "1 d 00 h");
  CHECK(human_span(200'000) == "2 d 08 h");
  CHECK(human_usd(0.012345) == "$0.0123");
  CHECK(human_usd(0.999) == "$1.00");
  CHECK(human_usd(12.344) == "$12.34");
  CHECK(human_usd(1234.5) == "$1,235");
  CHECK(human_share(0) == "0 %");
  CHECK(human_share(0.0001) == "<0.1 %");
  CHECK(human_share(0.987) == "98.7 %");
  CHECK(human_share(0.9996) == ">99.9 %");
  CHECK(human_share(1) == "100 %");
}
