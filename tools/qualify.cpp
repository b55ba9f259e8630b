// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "scenarios/catalog.h"
#include "scenarios/error.h"
#include "scenarios/json_text.h"
#include "scenarios/load.h"
#include "scenarios/qualification.h"
#include "scenarios/qualification_history.h"
#include "scenarios/qualification_record.h"
#include "scenarios/qualification_verify.h"
#include "tools/commands.h"
#include "tools/figure_options.h"
#include "tools/progress_line.h"

/// `poolcast qualify SCENARIO -o RECORD`, `qualify verify RECORD`, `qualify history FOLDER`.
namespace poolcast {
namespace {

struct Arguments {
  std::string scenario, record, folder, out, date;
  std::string confidence = "95 %";
  std::vector<std::string> set, margins, limits;
  std::int64_t replications = 10;
  int threads = 0;
  bool json = false;
};

std::string today() {
  return fmt::format("{:%Y-%m-%d}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

void check_date(const std::string& date) {
  constexpr std::string_view kShape = "dddd-dd-dd";
  bool fits = date.size() == kShape.size();
  for (std::size_t i = 0; fits && i < kShape.size(); ++i) {
    fits = kShape[i] == 'd' ? date[i] >= '0' && date[i] <= '9' : date[i] == '-';
  }
  const auto part = [&](std::size_t at, std::size_t size) { return std::stoi(date.substr(at, size)); };
  if (!fits || !std::chrono::year_month_day(std::chrono::year(part(0, 4)), std::chrono::month(unsigned(part(5, 2))),
                                            std::chrono::day(unsigned(part(8, 2))))
                    .ok()) {
    throw ConfigError(fmt::format("--date: expected YYYY-MM-DD, got {}", quote(date)));
  }
}

int write(const Arguments& a) {
  if (a.scenario.empty())
    throw ConfigError("poolcast qualify: no scenario\n`poolcast qualify --help` shows how it is called");
  if (a.out.empty()) throw ConfigError("poolcast qualify: -o RECORD says where the record goes: a file or a folder");
  const Catalog catalog = Catalog::load(find_catalog_folder());
  QualifyOptions options;
  options.scenario = a.scenario;
  options.overrides = a.set;
  options.date = a.date.empty() ? today() : a.date;
  check_date(options.date);
  options.replications = a.replications;
  options.confidence = confidence_of(a.confidence);
  options.threads = a.threads;
  options.margins = margins_of(load_scenario(a.scenario, catalog, a.set));
  for (const std::string& setting : a.margins) set_margin(options.margins, setting);
  for (const std::string& setting : a.limits) options.limits.push_back(read_limit(setting));
  check_record_place(a.out);
  const nlohmann::ordered_json record = [&] {
    RunsLine line;
    options.progress = [&](std::int64_t done, std::int64_t all) { line.show(done, all); };
    return qualify(options, catalog);
  }();
  const std::string path = write_record(record, a.out);
  print(a.json ? json_text(record) : qualification_text(record) + "\nRecord " + path + "\n");
  return record.at("predicate").at("result") == "passed" ? 0 : 1;
}

int verify(const Arguments& a) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  const Verification verification = [&] {
    RunsLine line;
    const auto show = [&](std::int64_t done, std::int64_t all) { line.show(done, all); };
    return verify_record(a.record, {a.scenario, true, a.threads, show}, catalog);
  }();
  print(a.json ? json_text(verification_json(verification)) : verification_text(verification));
  return verification.verdict() == Verification::Verdict::kValid ? 0 : 1;
}

int history(const Arguments& a) {
  const History history = read_history(a.folder, a.scenario, Catalog::load(find_catalog_folder()));
  print(a.json ? json_text(history_json(history)) : history_text(history));
  return 0;
}

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "runs side by side; 0: as many as the machine has")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
}

void add_write_options(CLI::App& command, Arguments& a) {
  command.add_option("SCENARIO", a.scenario, "the scenario; a move that it states is rehearsed against no move");
  command.add_option("-o,--out", a.out, "the record: a file, or a folder in which it gets a name")->type_name("RECORD");
  command.add_option("--date", a.date, "stated in the record; default today (UTC)")->type_name("YYYY-MM-DD");
  command.add_option("--replications", a.replications, "runs")
      ->type_name("K")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->capture_default_str();
  command.add_option("--confidence", a.confidence, "of each interval")->type_name("SHARE")->capture_default_str();
  const auto repeated = [&](const char* option, std::vector<std::string>& settings, const char* type,
                            const char* what) {
    command.add_option(option, settings, what)->type_name(type)->allow_extra_args(false);
  };
  repeated("--limit", a.limits, "FIGURE=VALUE",
           "the most that a figure may be (goodput: the least), such as cost=0.002; can be repeated");
  repeated("--margin", a.margins, "FIGURE=SHARE", "of a move, as for compare; can be repeated");
  repeated("--set", a.set, "path.to.key=value", "change a key of the scenario; can be repeated");
  add_threads(command, a.threads);
  command.add_flag("--json", a.json, "print JSON");
}

}  // namespace

void add_qualify(CLI::App& app, int& status) {
  CLI::App* const command = app.add_subcommand("qualify", "Rehearse a scenario and write a record of what it showed");
  const auto a = std::make_shared<Arguments>();
  add_write_options(*command, *a);
  command->footer(
      "Exit status: 0 qualified; 1 not, and the record says why; 2 bad input.\n"
      "Example:\n"
      "  poolcast qualify scenarios/examples/move.yaml -o records/");
  CLI::App* const check = command->add_subcommand("verify", "Whether a record still holds: digests, inputs, figures");
  check->add_option("RECORD", a->record, "the record")->required();
  check->add_option("--scenario", a->scenario, "instead of the file that the record names")->type_name("FILE");
  add_threads(*check, a->threads);
  check->add_flag("--json", a->json, "print JSON");
  check->footer("Exit status: 0 valid; 1 stale, altered or other figures; 2 bad input.");
  check->callback([a, &status] { status = verify(*a); });
  CLI::App* const list = command->add_subcommand("history", "The records of a folder, and what changed between them");
  list->add_option("FOLDER", a->folder, "a folder of records")->required();
  list->add_option("--scenario", a->scenario, "tell which records are stale against this file")->type_name("FILE");
  list->add_flag("--json", a->json, "print JSON");
  list->callback([a, &status] { status = history(*a); });
  command->callback([command, a, &status] {
    if (command->get_subcommands().empty()) status = write(*a);
  });
}

}  // namespace poolcast
