// SPDX-License-Identifier: Apache-2.0
#include "scenarios/qualification_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "scenarios/error.h"
#include "scenarios/load.h"
#include "scenarios/printable.h"
#include "scenarios/qualification.h"
#include "scenarios/qualification_facts.h"
#include "scenarios/qualification_record.h"
#include "scenarios/run_sample.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string find_scenario(const std::string& record, const std::string& stated) {
  std::error_code ignored;
  const fs::path beside = fs::path(record).parent_path() / fs::path(stated).filename();
  for (const fs::path& place : {fs::path(stated), beside}) {
    if (fs::exists(place, ignored)) return place.string();
  }
  throw ConfigError(
      Location{record}, "predicate.scenario.path",
      fmt::format("the scenario {} is not there, nor beside the record: name it with --scenario", quote(stated)));
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> found;
  for (const Json& entry : list) found.push_back(entry.is_string() ? entry.get<std::string>() : entry.dump());
  return found;
}

Figure figure_named(const std::string& record, const std::string& key) {
  for (int f = 0; f < kFigures; ++f) {
    if (key == name(static_cast<Figure>(f))) return static_cast<Figure>(f);
  }
  throw ConfigError(Location{record}, "predicate.rehearsal", "there is no figure " + quote(key));
}

double number(const std::string& record, const Json& value) {
  if (!value.is_number()) throw ConfigError(Location{record}, "predicate.rehearsal", "expected a number");
  return value.get<double>();
}

/// What the record was made with.
QualifyOptions options_of(const std::string& path, const Json& predicate, const VerifyOptions& asked) {
  QualifyOptions options;
  options.scenario = asked.scenario.empty() ? find_scenario(path, predicate.at("scenario").at("path")) : asked.scenario;
  options.overrides = texts(predicate.at("scenario").at("overrides"));
  options.date = predicate.at("date");
  const Json& terms = predicate.at("rehearsal");
  constexpr std::uint64_t kMost = 100'000;
  const auto replications = terms.at("replications").get<std::uint64_t>();
  if (replications < 1 || replications > kMost) {
    throw ConfigError(Location{path}, "predicate.rehearsal.replications", fmt::format("must be from 1 to {}", kMost));
  }
  options.replications = static_cast<std::int64_t>(replications);
  options.confidence = terms.at("confidence");
  if (!(options.confidence >= 0.5 && options.confidence < 1)) {
    throw ConfigError(Location{path}, "predicate.rehearsal.confidence", "must be from 50 % to below 100 %");
  }
  options.margins.clear();
  for (const auto& [key, most] : terms.at("margins").items()) {
    options.margins.push_back({figure_named(path, key), number(path, most)});
  }
  for (const auto& [key, limit] : terms.at("limits").items()) {
    options.limits.push_back({figure_named(path, key), number(path, limit)});
  }
  options.threads = asked.threads;
  options.progress = asked.progress;
  return options;
}

/// Inputs by kind and name: where they lie does not matter, and neither does the name of the scenario.
Json inputs_by_name(const Json& inputs) {
  Json list = Json::array();
  for (const Json& input : inputs) {
    const Json kind = input.value("kind", Json());
    list.push_back({{"kind", kind},
                    {"name", kind == "scenario" ? Json("file") : input.value("name", Json())},
                    {"sha256", input.value("sha256", Json())}});
  }
  return list;
}

/// All that a rehearsal must give again: everything but where files lie, and the program's version.
Json comparable(Json statement) {
  Json& predicate = statement.at("predicate");
  for (const char* key : {"digest", "program", "inputs"}) predicate.erase(key);
  predicate.at("scenario").erase("path");
  Json digests = Json::array();  // of subjects, without the name of the scenario's file
  for (const Json& subject : statement.at("subject")) digests.push_back(subject.value("digest", Json()));
  statement["subject"] = digests;
  return statement;
}

std::string program_note(const Json& predicate) {
  const Json& version = predicate.at("program").at("version");
  if (version == POOLCAST_VERSION) return {};
  return fmt::format("the record was made by version {} of the program, and this is {}: figures may differ for that",
                     printable(version.get<std::string>()), POOLCAST_VERSION);
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Verification::Verdict Verification::verdict() const {
  if (!sealed) return Verdict::kAltered;
  if (!stale.empty()) return Verdict::kStale;
  return differences.empty() ? Verdict::kValid : Verdict::kDiffers;
}

const char* name(Verification::Verdict verdict) {
  constexpr const char* kNames[] = {"valid", "stale", "differs", "altered"};
  return kNames[static_cast<int>(verdict)];
}

namespace {

Verification verify(const std::string& path, const VerifyOptions& asked, const Catalog& catalog) {
  const Json statement = read_record(path);
  const Json& predicate = statement.at("predicate");
  Verification v;
  v.record = path;
  v.date = printable(predicate.at("date").get<std::string>());
  v.result = printable(predicate.at("result").get<std::string>());
  v.sealed = is_sealed(statement);
  if (const std::string note = program_note(predicate); !note.empty()) v.notes.push_back(note);

  const QualifyOptions options = options_of(path, predicate, asked);
  const Scenario scenario = load_scenario(options.scenario, catalog, options.overrides);
  v.stale = changes(predicate.at("facts"), facts(scenario));
  const std::vector<Change> files = changes({{"inputs", inputs_by_name(predicate.at("inputs"))}},
                                            {{"inputs", inputs_by_name(input_files(scenario))}});
  if (v.stale.empty() && !files.empty()) {
    v.notes.emplace_back("every key of the scenario means what it did; the bytes of files are others");
  }
  v.stale.insert(v.stale.end(), files.begin(), files.end());
  if (!asked.rehearse) return v;
  if (!v.stale.empty()) {
    v.notes.emplace_back("not run again: other inputs give other figures");
    return v;
  }
  v.rehearsed = true;
  v.differences = changes(comparable(statement), comparable(qualify(options, catalog)));
  return v;
}

}  // namespace

Verification verify_record(const std::string& path, const VerifyOptions& asked, const Catalog& catalog) {
  try {
    return verify(path, asked, catalog);
  } catch (const Json::exception&) {
    throw ConfigError(Location{path}, "", "is no whole record: a member is missing or of a wrong type");
  }
}

std::string stale_text(const Change& change) {
  const std::pair<const char*, const char*> kNames[] = {{"driver", "driver"},
                                                        {"runtime", "runtime"},
                                                        {".artifact", "artifact"},
                                                        {".artifact.name", "artifact"},
                                                        {".artifact.digest", "artifact"},
                                                        {".suite", "evaluation suite"},
                                                        {".score", "evaluation score"},
                                                        {".samples", "evaluation samples"},
                                                        {".threshold", "evaluation threshold"},
                                                        {".price", "price"},
                                                        {".price.reserved", "price"},
                                                        {".engine.version", "engine version"},
                                                        {".curves.digest", "calibration"},
                                                        {".sha256", "file"},
                                                        {".status", "status"}};
  for (const auto& [end, what] : kNames) {
    if (ends_with(change.path, end)) return fmt::format("{}: {}", what, change.text());
  }
  return change.text();
}

}  // namespace poolcast
