// SPDX-License-Identifier: Apache-2.0
#include "scenarios/qualification_history.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "scenarios/error.h"
#include "scenarios/load.h"
#include "scenarios/printable.h"
#include "scenarios/qualification_record.h"
#include "scenarios/qualification_verify.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Record {
  std::string file;
  Json statement;
  const Json& predicate() const { return statement.at("predicate"); }
};

/// Others would be waited for (a pipe), or never end (a device).
Json read_plain_file(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    throw FileError(Location{file}, "", "is no plain file");
  }
  return read_record(file);
}

std::vector<std::string> record_files(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(folder, error); !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    if (path.extension() == ".json" && path.filename().native()[0] != '.') files.push_back(path.string());
  }
  if (error) throw FileError(Location{folder}, "", "cannot read the folder: " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

/// "chat" of "scenario.models[chat].…" with the start "scenario.models["; empty where the path is of something else.
std::string owner(const std::string& path, std::string_view start) {
  if (path.compare(0, start.size(), start) != 0) return {};
  return path.substr(start.size(), path.find(']') - start.size());
}

/// Whether a change concerns this implementation, or all of them.
bool concerns(const Change& change, const HistoryRow& row) {
  if (const std::string pool = owner(change.path, "scenario.pools["); !pool.empty() && pool != row.pool) return false;
  if (const std::string pool = owner(change.path, "software["); !pool.empty() && pool != row.pool) return false;
  const std::string model = owner(change.path, "scenario.models[");
  if (!model.empty() && model != row.model) return false;
  const std::size_t at = change.path.find(".implementations[");
  return at == std::string::npos || owner(change.path.substr(at), ".implementations[") == row.pool;
}

std::string text_of(const Json& object, const char* key) {
  const Json value = object.is_object() ? object.value(key, Json()) : Json();
  return value.is_string() ? printable(value.get<std::string>()) : "";
}

std::string artifact_of(const Json& binding) {
  const Json artifact = binding.is_object() ? binding.value("artifact", Json()) : Json();
  const std::string name = text_of(artifact, "name"), precision = text_of(artifact, "precision");
  return name.empty() ? precision : name + " " + precision;
}

void judge(const std::string& scenario, const Catalog& catalog, const Record& record, HistoryRow& row) {
  row.state = is_sealed(record.statement) ? "sealed" : "altered";
  if (scenario.empty()) return;
  try {
    const Verification v = verify_record(record.file, {scenario, false, 0, {}}, catalog);
    row.state = name(v.verdict());
    for (const Change& change : v.stale) {
      if (concerns(change, row)) row.why.push_back(stale_text(change));
    }
    if (row.state == "stale" && row.why.empty()) row.why.emplace_back("another implementation changed");
  } catch (const ConfigError& error) {
    row.why.emplace_back(error.what());
  }
}

}  // namespace

History read_history(const std::string& folder, const std::string& scenario, const Catalog& catalog) {
  if (!scenario.empty()) load_scenario(scenario, catalog);  // a fault in it is told once
  History history;
  std::vector<Record> records;
  for (const std::string& file : record_files(folder)) {
    try {
      records.push_back({file, read_plain_file(file)});
    } catch (const ConfigError& error) {
      history.broken.push_back({printable(fs::path(file).filename().string()), error.what()});
    }
  }
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return text_of(a.predicate(), "date") < text_of(b.predicate(), "date");
  });
  std::map<std::pair<std::string, std::string>, const Json*> before;  // facts, by model and pool
  for (const Record& record : records) {
    const Json& p = record.predicate();
    for (const Json& binding : p.at("bindings")) {
      HistoryRow row{printable(fs::path(record.file).filename().string()),
                     text_of(p, "date"),
                     text_of(binding, "model"),
                     text_of(binding, "pool"),
                     artifact_of(binding),
                     text_of(p, "result"),
                     "",
                     {},
                     true,
                     {}};
      judge(scenario, catalog, record, row);
      const Json*& last = before[{row.model, row.pool}];
      row.first = last == nullptr;
      if (last != nullptr) {
        for (const Change& change : changes(*last, p.at("facts"))) {
          if (concerns(change, row)) row.since.push_back(change);
        }
      }
      last = &p.at("facts");
      history.rows.push_back(std::move(row));
    }
  }
  return history;
}

}  // namespace poolcast
