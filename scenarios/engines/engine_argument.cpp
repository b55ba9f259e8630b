// SPDX-License-Identifier: Apache-2.0
#include "scenarios/engines/engine_argument.h"

#include "scenarios/units.h"

namespace poolcast::argument {
namespace {

constexpr std::size_t kMostEntries = 10'000;

}  // namespace

double share_of(const YamlNode& value) {
  const double share = read_share(value);
  if (!(share > 0)) value.fail("must be above 0, got " + quote(value.text()));
  return share;
}

std::string double_text(double value) { return number_text(value); }

std::string list_text(const std::vector<std::int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

std::vector<std::int64_t> ascending(const YamlNode& list, std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> values;
  for (const YamlNode& item : list.one_or_more()) {
    values.push_back(item.integer(least, most));
    if (values.size() > 1 && values[values.size() - 2] >= values.back()) item.fail("must be above the one before it");
    if (values.size() > kMostEntries) item.fail(fmt::format("more than {} values", kMostEntries));
  }
  return values;
}

EngineArgument memory_share(std::string name) {
  return {std::move(name), [](EngineSettings& s, const YamlNode& v) { s.memory_share = share_of(v); },
          [](const EngineSettings& s) { return s.memory_share ? number_text(*s.memory_share) : std::string(); }};
}

EngineArgument stated_kv(std::string name, std::int64_t least) {
  return {std::move(name),
          [=](EngineSettings& s, const YamlNode& v) {
            if (!v.is_word("none")) s.stated_kv = v.integer(least, kMost);
          },
          [](const EngineSettings& s) { return s.stated_kv ? std::to_string(*s.stated_kv) : std::string("none"); }};
}

EngineArgument kv_dtype(std::string name, std::vector<std::string_view> words) {
  return {std::move(name), [=](EngineSettings& s, const YamlNode& v) { s.kv_cache_dtype = words[v.choice(words)]; },
          [](const EngineSettings& s) { return s.kv_cache_dtype; }};
}

EngineArgument guide(std::string name, std::int64_t least, std::int64_t most) {
  return {name, [=](EngineSettings& s, const YamlNode& v) { s.guides[name] = {v.integer(least, most)}; },
          [=](const EngineSettings& s) {
            const auto found = s.guides.find(name);
            return found == s.guides.end() ? std::string() : std::to_string(found->second.front());
          }};
}

EngineArgument guide_choice(std::string name, std::vector<std::string_view> words) {
  return {name,
          [=](EngineSettings& s, const YamlNode& v) { s.guides[name] = {static_cast<std::int64_t>(v.choice(words))}; },
          [=](const EngineSettings& s) {
            const auto found = s.guides.find(name);
            if (found == s.guides.end()) return std::string();
            return std::string(words[static_cast<std::size_t>(found->second.front())]);
          }};
}

EngineArgument guide_list(std::string name) {
  return {name, [=](EngineSettings& s, const YamlNode& v) { s.guides[name] = ascending(v, 1, kMost); },
          [=](const EngineSettings& s) {
            const auto found = s.guides.find(name);
            return found == s.guides.end() ? std::string() : list_text(found->second);
          }};
}

}  // namespace poolcast::argument
