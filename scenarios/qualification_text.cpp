// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scenarios/printable.h"
#include "scenarios/qualification.h"
#include "scenarios/qualification_history.h"
#include "scenarios/qualification_verify.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

std::string text_or(const Json& value, const char* otherwise) {
  return value.is_string() && !value.get<std::string>().empty() ? value.get<std::string>() : otherwise;
}

std::string checks_text(const Json& predicate) {
  constexpr std::size_t kWidest = 44;
  std::string text = "Checks\n";
  std::size_t width = 0;
  for (const Json& check : predicate.at("checks")) {
    width = std::max(width, std::min(kWidest, check.at("check").get<std::string>().size()));
  }
  for (const Json& check : predicate.at("checks")) {
    text += wrapped(fmt::format("  {:<6}  {:<{}}  ", check.at("verdict").get<std::string>(),
                                shortened(check.at("check").get<std::string>(), kWidest), width),
                    check.at("why").get<std::string>());
  }
  return text;
}

std::string bindings_text(const Json& predicate) {
  TextTable table({"Bound", "pool", "status", "artifact", "engine", "curve"});
  for (const Json& b : predicate.at("bindings")) {
    table.row({b.at("model"), b.at("pool"), b.at("status"), shortened(text_or(b.at("artifact").at("name"), "-"), 24),
               fmt::format("{} {}", b.at("engine").at("kind").get<std::string>(),
                           b.at("engine").at("version").get<std::string>()),
               b.at("curve").at("kind")});
  }
  return table.text();
}

constexpr std::size_t kMostLines = 40;

std::string change_lines(const std::vector<Change>& list, std::string (*line)(const Change&)) {
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < kMostLines; ++i) text += wrapped("  ", printable(line(list[i]), "\n"));
  if (list.size() > kMostLines) text += fmt::format("  ... and {} more\n", list.size() - kMostLines);
  return text;
}

std::string plain(const Change& change) { return change.text(); }

Json json_of(const std::vector<Change>& list) {
  Json json = Json::array();
  for (const Change& change : list) json.push_back({{"path", change.path}, {"was", change.was}, {"is", change.is}});
  return json;
}

std::string row_notes(const HistoryRow& row) {
  std::string text;
  const std::string lead = fmt::format("  {} {}/{} ", row.date, row.model, row.pool);
  for (const std::string& why : row.why) text += wrapped(lead + row.state + ": ", printable(why, "\n"));
  for (std::size_t i = 0; i < row.since.size() && i < kMostLines; ++i) {
    text += wrapped(lead + "changed: ", printable(stale_text(row.since[i]), "\n"));
  }
  if (row.since.size() > kMostLines) text += fmt::format("{}... and {} more\n", lead, row.since.size() - kMostLines);
  return text;
}

}  // namespace

std::string qualification_text(const Json& record) {
  const Json& p = record.at("predicate");
  const std::string digest = p.at("digest");
  std::string text =
      fmt::format("{}   {}   seed {}   {} replications   record {}\n\n", p.at("result").get<std::string>(),
                  p.at("date").get<std::string>(), p.at("scenario").at("seed").dump(),
                  p.at("rehearsal").at("replications").dump(), digest.substr(digest.find(':') + 1).substr(0, 12));
  text += bindings_text(p) + "\n" + checks_text(p);
  std::string lead = "\nWay back  ";
  for (const Json& sentence : p.at("policy").at("reverse_plan")) {
    text += wrapped(lead, sentence.get<std::string>());
    lead = "          ";
  }
  return text;
}

std::string verification_text(const Verification& v) {
  std::string text = fmt::format("{}: {} ({}, dated {})\n", v.record, name(v.verdict()), v.result, v.date);
  if (!v.sealed) text += "Altered: its digest is not that of its content\n";
  if (!v.stale.empty()) text += "Stale, since these changed (then -> now)\n" + change_lines(v.stale, stale_text);
  if (!v.differences.empty()) {
    text += "The rehearsal gives other results (stated -> found)\n" + change_lines(v.differences, plain);
  } else if (v.rehearsed) {
    text += "The rehearsal gives the same results, bit for bit\n";
  }
  for (const std::string& note : v.notes) text += wrapped("  - ", note);
  return text;
}

Json verification_json(const Verification& v) {
  return {{"record", v.record},
          {"verdict", name(v.verdict())},
          {"date", v.date},
          {"result", v.result},
          {"sealed", v.sealed},
          {"rehearsed", v.rehearsed},
          {"stale", json_of(v.stale)},
          {"differences", json_of(v.differences)},
          {"notes", v.notes}};
}

std::string history_text(const History& history) {
  TextTable table({"Record", "date", "model", "pool", "artifact", "result", "state", "changed"});
  std::string notes;
  for (const HistoryRow& row : history.rows) {
    table.row({row.file, row.date, shortened(row.model, 16), shortened(row.pool, 12), shortened(row.artifact, 16),
               row.result, row.state, row.first ? "first" : std::to_string(row.since.size())});
    notes += row_notes(row);
  }
  std::string text = history.rows.empty() ? "No records\n" : table.text();
  if (!notes.empty()) text += "\nWhat changed\n" + notes;
  if (!history.broken.empty()) text += "\nBroken\n";
  for (const BrokenRecord& broken : history.broken) text += wrapped("  - ", printable(broken.why, "\n"));
  return text;
}

Json history_json(const History& history) {
  Json json = {{"records", Json::array()}, {"broken", Json::array()}};
  for (const HistoryRow& row : history.rows) {
    json["records"].push_back({{"file", row.file},
                               {"date", row.date},
                               {"model", row.model},
                               {"pool", row.pool},
                               {"artifact", row.artifact},
                               {"result", row.result},
                               {"state", row.state},
                               {"why", row.why},
                               {"first", row.first},
                               {"changed", json_of(row.since)}});
  }
  for (const BrokenRecord& broken : history.broken) {
    json["broken"].push_back({{"file", broken.file}, {"why", broken.why}});
  }
  return json;
}

}  // namespace poolcast
