// SPDX-License-Identifier: Apache-2.0
#include "scenarios/qualification_record.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "scenarios/atomic_file.h"
#include "scenarios/digest.h"
#include "scenarios/error.h"
#include "scenarios/json_text.h"
#include "scenarios/yaml.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string digest_without_itself(Json statement) {
  statement.at("predicate").erase("digest");
  return "sha256:" + sha256(json_text(statement));
}

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw ConfigError(Location{path}, "", message);
}

/// A key that stands twice would let two readers of one sealed record see different things.
Json parse(const std::string& path, const std::string& text) {
  constexpr int kDeepest = 64;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto plain_json = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepest) fail(path, "is nested too deeply to be a record");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      fail(path, fmt::format("the key {} stands twice in one object", quote(parsed.get<std::string>())));
    }
    return true;
  };
  try {
    return Json::parse(text, plain_json);
  } catch (const Json::exception&) {
    const std::size_t end = text.find_last_not_of(" \n\r\t");
    const bool cut = end == std::string::npos || text[end] != '}';
    fail(path, cut ? "is no JSON, or was cut short" : "is no JSON");
  }
}

bool has_text(const Json& object, const char* key, const char* value) {
  return object.is_object() && object.contains(key) && object[key] == value;
}

/// The members that readers of a record rely on, by JSON pointer.
void check_members(const std::string& path, const Json& statement) {
  using Type = nlohmann::json::value_t;
  const std::pair<const char*, Type> kNeeded[] = {{"/subject", Type::array},
                                                  {"/predicate/digest", Type::string},
                                                  {"/predicate/date", Type::string},
                                                  {"/predicate/result", Type::string},
                                                  {"/predicate/program/version", Type::string},
                                                  {"/predicate/scenario/path", Type::string},
                                                  {"/predicate/scenario/digest", Type::string},
                                                  {"/predicate/scenario/overrides", Type::array},
                                                  {"/predicate/rehearsal/replications", Type::number_unsigned},
                                                  {"/predicate/rehearsal/confidence", Type::number_float},
                                                  {"/predicate/rehearsal/margins", Type::object},
                                                  {"/predicate/rehearsal/limits", Type::object},
                                                  {"/predicate/inputs", Type::array},
                                                  {"/predicate/bindings", Type::array},
                                                  {"/predicate/checks", Type::array},
                                                  {"/predicate/facts", Type::object}};
  for (const auto& [pointer, type] : kNeeded) {
    const Json::json_pointer at(pointer);
    if (!statement.contains(at)) fail(path, fmt::format("is no whole record: {} is missing", pointer));
    if (statement.at(at).type() != type) fail(path, fmt::format("is no whole record: {} is of a wrong type", pointer));
  }
}

std::string plain(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  }
  return text.substr(0, 64);
}

}  // namespace

void seal(Json& statement) { statement.at("predicate")["digest"] = digest_without_itself(statement); }

bool is_sealed(const Json& statement) {
  return statement.at("predicate").at("digest") == digest_without_itself(statement);
}

Json read_record(const std::string& path) {
  const Json statement = parse(path, read_text_file(path));
  if (!has_text(statement, "_type", kStatementType)) {
    fail(path, fmt::format("is no in-toto statement: its _type is not {}", kStatementType));
  }
  if (!has_text(statement, "predicateType", kPredicateType)) {
    const Json type = statement.value("predicateType", Json());
    fail(path, fmt::format("this program reads statements of type {}, and this one is {}", kPredicateType,
                           type.is_string() ? quote(type.get<std::string>()) : "of none"));
  }
  const Json::json_pointer schema("/predicate/schema");
  if (!statement.contains(schema) || statement.at(schema) != kQualificationSchema) {
    fail(path,
         fmt::format("this program reads schema {} of qualification records, and this one states {}",
                     kQualificationSchema, statement.contains(schema) ? quote(statement.at(schema).dump()) : "none"));
  }
  check_members(path, statement);
  return statement;
}

std::string record_path(const Json& statement, const std::string& place) {
  std::error_code ignored;
  if (!place.empty() && place.back() != '/' && !fs::is_directory(place, ignored)) return place;
  const Json& predicate = statement.at("predicate");
  std::string model = "none";
  if (!predicate.at("bindings").empty()) model = predicate.at("bindings")[0].at("model");
  const std::string digest = predicate.at("digest");
  return (fs::path(place) / fmt::format("{}-{}-{}.json", plain(predicate.at("date")), plain(model),
                                        digest.substr(digest.find(':') + 1).substr(0, 16)))
      .string();
}

void check_record_place(const std::string& place) {
  std::error_code ignored;
  if (!place.empty() && place.back() == '/') make_folder(place);
  AtomicFile(fs::is_directory(place, ignored) ? (fs::path(place) / "record.json").string() : place);
}

std::string write_record(const Json& statement, const std::string& place) {
  if (!place.empty() && place.back() == '/') make_folder(place);
  const std::string path = record_path(statement, place), text = json_text(statement);
  if (AtomicFile(path).write_new(text)) return path;
  if (read_text_file(path) != text) {
    throw FileError(Location{path}, "", "another record stands there, and records are never replaced");
  }
  return path;
}

}  // namespace poolcast
