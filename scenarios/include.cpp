// SPDX-License-Identifier: Apache-2.0
#include "scenarios/include.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "scenarios/load_parts.h"
#include "scenarios/overrides.h"

namespace poolcast {
namespace {

const std::vector<std::string_view>& list_sections() {
  static const std::vector<std::string_view> kLists = {"workload", "models", "pools", "moves"};
  return kLists;
}

std::string canonical(const std::string& file) {
  std::error_code ignored;
  const auto path = std::filesystem::weakly_canonical(file, ignored);
  return path.empty() ? file : path.string();
}

class Includer {
 public:
  YamlNode join(const YamlNode& document) {
    const auto include = document.find("include");
    if (!include) return settled(document.without("set"), document);
    if (include->is_null()) include->fail("has no value");
    open_.push_back(document.file());
    YamlNode all = document.empty_mapping();
    std::map<std::string, std::string> stated;  // section, and the file that states it
    for (const YamlNode& name : include->one_or_more()) {
      const auto part = read(name);
      if (!part) continue;
      check_sections(document, *part, stated);
      all = all.joined(*part, list_sections());
    }
    open_.pop_back();
    return settled(all.joined(document.without("include").without("set"), list_sections()), document);
  }
  const std::vector<std::string>& files() const { return files_; }

 private:
  /// What its `set` changes in what it includes and states itself.
  static YamlNode settled(YamlNode all, const YamlNode& document) {
    const auto set = document.find("set");
    if (!set) return all;
    for (const auto& [path, value] : set->entries()) all = apply_override(all, path, value);
    return all;
  }

  /// One file and what it includes; nothing when that has been joined already.
  std::optional<YamlNode> read(const YamlNode& name) {
    if (name.text().empty()) name.fail("a file name cannot be empty");
    const std::string file = name.text()[0] == '/' ? name.text() : folder_of(name, "") + name.text();
    const std::string key = canonical(file);
    check_circle(name, file, key);
    if (!done_.insert(key).second) return std::nullopt;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) name.fail("there is no file " + quote(file));
    const YamlNode document = load_yaml_file(file);
    files_.push_back(file);
    if (!document.is_mapping()) document.fail("expected a mapping with sections of a scenario");
    if (const auto version = document.find("version")) check_format_version(*version);
    return join(document);
  }

  void check_circle(const YamlNode& name, const std::string& file, const std::string& key) const {
    const auto first = std::find_if(open_.begin(), open_.end(), [&](const auto& f) { return canonical(f) == key; });
    if (first == open_.end()) return;
    std::string way;
    for (auto at = first; at != open_.end(); ++at) way += *at + " -> ";
    name.fail("the file includes itself: " + way + file);
  }

  /// Which of two included files should hold, nobody could tell.
  static void check_sections(const YamlNode& document, const YamlNode& part,
                             std::map<std::string, std::string>& stated) {
    for (const auto& [section, value] : part.entries()) {
      const auto& lists = list_sections();
      if (section == "version" || std::find(lists.begin(), lists.end(), section) != lists.end()) continue;
      const auto [first, is_new] = stated.emplace(section, part.key_location(section).file);
      if (is_new || document.find(section)) continue;
      throw ConfigError(part.key_location(section), section,
                        first->second + " states it too; the file that includes both must say which holds");
    }
  }

  std::vector<std::string> open_;  ///< files that are being read, outermost first
  std::set<std::string> done_;
  std::vector<std::string> files_;
};

}  // namespace

YamlNode join_includes(const YamlNode& document, std::vector<std::string>* files) {
  if (!document.is_mapping()) return document;
  Includer includer;
  YamlNode all = includer.join(document);
  if (files != nullptr) *files = includer.files();
  return all;
}

std::string folder_of(const YamlNode& node, const std::string& otherwise) {
  const std::string file = node.file();
  if (file.empty()) return otherwise;
  const auto slash = file.find_last_of('/');
  return slash == std::string::npos ? "" : file.substr(0, slash + 1);
}

}  // namespace poolcast
