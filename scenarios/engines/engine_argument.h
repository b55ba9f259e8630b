// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/engines/engine_settings.h"
#include "scenarios/yaml.h"

namespace poolcast {

/// One argument that the simulation follows: how YAML sets it and how `check` prints it.
struct EngineArgument {
  std::string name;
  std::function<void(EngineSettings&, const YamlNode&)> set;
  std::function<std::string(const EngineSettings&)> text;  ///< empty: it has no value
  bool of_version = false;                                 ///< the version decides: a file cannot state anything else
};

/// Makers of arguments by their type. `member` belongs to the arguments of the kind (VllmArgs, …).
namespace argument {

inline constexpr std::int64_t kMost = 1'000'000'000;

double share_of(const YamlNode& value);  ///< 0.9 or 90 %, above 0
std::string list_text(const std::vector<std::int64_t>& values);
std::vector<std::int64_t> ascending(const YamlNode& list, std::int64_t least, std::int64_t most);
inline const char* flag_text(bool value) { return value ? "true" : "false"; }
std::string double_text(double value);

template <class Args>
EngineArgument count(std::string name, std::int64_t Args::*member, std::int64_t least = 1, std::int64_t most = kMost) {
  return {std::move(name),
          [=](EngineSettings& s, const YamlNode& v) { std::get<Args>(s.args).*member = v.integer(least, most); },
          [=](const EngineSettings& s) { return std::to_string(std::get<Args>(s.args).*member); }};
}

/// A count for which `none` is no limit.
template <class Args>
EngineArgument limit(std::string name, std::int64_t Args::*member, std::int64_t least = 1) {
  return {std::move(name),
          [=](EngineSettings& s, const YamlNode& v) {
            std::get<Args>(s.args).*member = v.is_word("none") ? INT64_MAX : v.integer(least, kMost);
          },
          [=](const EngineSettings& s) {
            const std::int64_t value = std::get<Args>(s.args).*member;
            return value == INT64_MAX ? std::string("none") : std::to_string(value);
          }};
}

/// `off` is the word for which the flag is false: a switch that turns something off has `true` there.
template <class Args>
EngineArgument flag(std::string name, bool Args::*member, bool inverted = false) {
  return {std::move(name),
          [=](EngineSettings& s, const YamlNode& v) { std::get<Args>(s.args).*member = v.boolean() != inverted; },
          [=](const EngineSettings& s) { return flag_text(std::get<Args>(s.args).*member != inverted); }};
}

template <class Args>
EngineArgument number(std::string name, double Args::*member, double least, double most) {
  return {std::move(name),
          [=](EngineSettings& s, const YamlNode& v) { std::get<Args>(s.args).*member = v.number(least, most); },
          [=](const EngineSettings& s) { return double_text(std::get<Args>(s.args).*member); }};
}

/// `words` are in the order of the enumeration.
template <class Args, class Enum>
EngineArgument choice(std::string name, Enum Args::*member, std::vector<std::string_view> words) {
  return {std::move(name),
          [=](EngineSettings& s, const YamlNode& v) {
            std::get<Args>(s.args).*member = static_cast<Enum>(v.choice(words));
          },
          [=](const EngineSettings& s) {
            return std::string(words[static_cast<std::size_t>(std::get<Args>(s.args).*member)]);
          }};
}

/// An ascending list; an empty one has no value.
template <class Args>
EngineArgument counts(std::string name, std::vector<std::int64_t> Args::*member, std::int64_t most = kMost) {
  return {std::move(name),
          [=](EngineSettings& s, const YamlNode& v) { std::get<Args>(s.args).*member = ascending(v, 1, most); },
          [=](const EngineSettings& s) {
            const auto& values = std::get<Args>(s.args).*member;
            return values.empty() ? std::string() : list_text(values);
          }};
}

EngineArgument memory_share(std::string name);
EngineArgument stated_kv(std::string name, std::int64_t least);  ///< `none` = by memory arithmetic
EngineArgument kv_dtype(std::string name, std::vector<std::string_view> words);
EngineArgument guide(std::string name, std::int64_t least, std::int64_t most = kMost);
EngineArgument guide_choice(std::string name, std::vector<std::string_view> words);
EngineArgument guide_list(std::string name);

}  // namespace argument
}  // namespace poolcast
