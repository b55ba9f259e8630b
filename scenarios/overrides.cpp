// SPDX-License-Identifier: Apache-2.0
#include "scenarios/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace poolcast {
namespace {

struct ShortForm {
  std::string_view key;       // the key that holds the short form
  std::string_view long_key;  // where its value goes in the mapping that it is short for
  std::string_view kind;      // value of `distribution`, where the mapping has one
};

constexpr std::array<ShortForm, 13> kShortForms = {{{"trace", "file", ""},
                                                    {"accelerator", "base", ""},
                                                    {"shape", "base", ""},
                                                    {"warm_up", "time", ""},
                                                    {"prompt_tokens", "mean", "fixed"},
                                                    {"output_tokens", "mean", "fixed"},
                                                    {"first_prompt_tokens", "mean", "fixed"},
                                                    {"turn_tokens", "mean", "fixed"},
                                                    {"turns", "mean", "fixed"},
                                                    {"think_time", "mean", "fixed"},
                                                    {"curves", "", ""},
                                                    {"price", "", ""},
                                                    {"roofline", "", ""}}};

/// Keys of which a mapping holds one: setting one takes the others away.
const std::vector<std::vector<std::string_view>>& rivals() {
  static const std::vector<std::vector<std::string_view>> kRivals = {
      {"trace", "synth", "closed_loop", "sessions"}, {"roofline", "step_fit", "file"}, {"reserved", "list"}};
  return kRivals;
}

class Override {
 public:
  Override(const std::string& path, const YamlNode& value)
      : option_("set"), at_(value.location()), path_(path), value_(value), place_(value.empty_mapping()) {
    if (path_.empty()) fail("an empty path");
  }
  explicit Override(const std::string& text) : option_("--set " + text), at_{option_} {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) fail("expected path.to.key=value");
    path_ = text.substr(0, equals);
    value_ = parse_yaml(option_, std::string_view(text).substr(equals + 1), true);
    place_ = parse_yaml(option_, "{}", true);
  }

  YamlNode apply(const YamlNode& node) { return descend(node, 0, ""); }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw ConfigError(at_, at_.line > 0 ? "set." + path_ : "", message);
  }
  std::string walked(std::size_t at) const { return quote(path_.substr(0, at)); }

  /// `node` with the value set at the rest of the path, from `at` on. `key` is the key under which `node` stands.
  YamlNode descend(YamlNode node, std::size_t at, std::string_view key) {
    if (at < path_.size() && path_[at] == '.') ++at;
    if (at >= path_.size()) {
      if (path_.back() == '.') fail("the path ends with a dot");
      return value_;
    }
    if (path_[at] == '[') return descend_index(node, at);
    if (node.is_list()) return descend_list(node, at, key);
    if (node.is_scalar()) node = spelt_out(node, key, at);
    if (node.is_null()) node = place_;
    if (const std::size_t skipped = entry_name(node, at); is_entry_list(key, at) && skipped > 0) {
      return descend(node, skipped, "");
    }
    return descend_key(node, at, key);
  }

  YamlNode descend_key(const YamlNode& node, std::size_t at, std::string_view parent) {
    const std::size_t end = key_end(node, at);
    std::string key = path_.substr(at, end - at);
    if (key.empty()) fail("the path has an empty key after " + walked(at));
    if (parent == "args") {
      if (const auto group = group_that_states(node, key)) {
        return node.with(group->first, descend_key(group->second, at, "args"));
      }
      key = as_written(node, std::move(key));
    }
    YamlNode changed = node.with(key, descend(node.find(key).value_or(YamlNode()), end, key));
    for (const auto& group : rivals()) {
      if (std::find(group.begin(), group.end(), key) == group.end()) continue;
      for (std::string_view rival : group) {
        if (rival != key) changed = changed.without(rival);
      }
    }
    return changed;
  }

  /// Arguments of engines may be spelt with dashes or underscores: an option changes the one that stands there.
  static std::string as_written(const YamlNode& args, std::string key) {
    const auto underscored = [](std::string name) {
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    };
    if (!args.is_mapping()) return key;
    for (const auto& [written, value] : args.entries()) {
      if (underscored(written) == underscored(key)) return written;
    }
    return key;
  }

  /// An argument may also stand inside a group (kv_cache_config, dynamic_batching, …): there an option changes it.
  static std::optional<std::pair<std::string, YamlNode>> group_that_states(const YamlNode& args,
                                                                           const std::string& key) {
    if (!args.is_mapping()) return std::nullopt;
    for (const auto& [group, value] : args.entries()) {
      if (value.is_mapping() && value.find(as_written(value, key))) return std::pair(group, value);
    }
    return std::nullopt;
  }

  YamlNode descend_index(const YamlNode& node, std::size_t at) {
    const std::size_t close = path_.find(']', at);
    std::size_t index = 0;
    const char* const last = path_.data() + std::min(close, path_.size());
    const auto parsed = std::from_chars(path_.data() + at + 1, last, index);
    if (close == std::string::npos || parsed.ec != std::errc() || parsed.ptr != last) {
      fail("expected an index such as [0] after " + walked(at));
    }
    if (node.is_mapping() && index == 0) return descend(node, close + 1, "");  // a list of one without its dash
    if (!node.is_list()) fail(walked(at) + " is not a list");
    if (index >= node.size())
      fail(
          fmt::format("{} has {} {}, counted from 0", walked(at), node.size(), node.size() == 1 ? "entry" : "entries"));
    return node.with_item(index, descend(node.items()[index], close + 1, ""));
  }

  YamlNode descend_list(const YamlNode& node, std::size_t at, std::string_view key) {
    const auto items = node.items();
    std::size_t chosen = items.size(), end = at;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::size_t name_end = entry_name(items[i], at);
      if (name_end > end) chosen = i, end = name_end;  // the longest name that the path begins with
    }
    if (chosen < items.size()) return node.with_item(chosen, descend(items[chosen], end, ""));
    if (items.size() == 1) return node.with_item(0, descend(items[0], at, ""));
    fail_entry(items, at, key);
  }

  [[noreturn]] void fail_entry(const std::vector<YamlNode>& items, std::size_t at, std::string_view key) const {
    const std::string word = path_.substr(at, path_.find_first_of(".[", at) - at);
    std::vector<std::string> names;
    for (const YamlNode& item : items) names.push_back(name_of(item));
    std::string known = suggestion(word, {names.begin(), names.end()});
    if (std::all_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); })) {
      known = fmt::format("; say which of its {} entries: {}[0], {}[1], …", items.size(), key, key);
    }
    fail(fmt::format("{} has no entry {}{}", quote(path_.substr(0, at - 1)), quote(word), known));
  }

  static std::string name_of(const YamlNode& entry) {
    for (const char* key : {"name", "pool"}) {
      if (const auto name = entry.find(key); name && name->is_scalar()) return name->text();
    }
    return {};
  }

  /// End of the entry's name in the path, when the path goes on with that name; else 0.
  std::size_t entry_name(const YamlNode& entry, std::size_t at) const {
    const std::string name = name_of(entry);
    return !name.empty() && continues_with(name, at) ? at + name.size() : 0;
  }

  bool continues_with(std::string_view word, std::size_t at) const {
    if (path_.compare(at, word.size(), word) != 0) return false;
    const std::size_t end = at + word.size();
    return end == path_.size() || path_[end] == '.' || path_[end] == '[';
  }

  /// Whether the mapping under `key` stands where a list of named entries is meant.
  bool is_entry_list(std::string_view key, std::size_t at) const {
    return key == "implementations" || ((key == "pools" || key == "models") && at == key.size() + 1);
  }

  /// A key may hold dots (`p99.9`, a pool named `v1.5`): the longest one that is there wins, then the next dot.
  std::size_t key_end(const YamlNode& node, std::size_t at) const {
    std::size_t end = percentile_end(at);
    if (node.is_mapping()) {
      for (const auto& [key, value] : node.entries()) {
        if (continues_with(key, at)) end = std::max(end, at + key.size());
      }
    }
    return end > 0 ? end : std::min(path_.find_first_of(".[", at), path_.size());
  }

  /// End of a percentile with a fraction, `p99.9`, or 0.
  std::size_t percentile_end(std::size_t at) const {
    const std::size_t dot = path_.find_first_not_of("0123456789", at + 1);
    if (path_[at] != 'p' || dot == at + 1 || dot >= path_.size() || path_[dot] != '.') return 0;
    const std::size_t end = std::min(path_.find_first_not_of("0123456789", dot + 1), path_.size());
    return end > dot + 1 ? end : 0;
  }

  YamlNode spelt_out(const YamlNode& node, std::string_view key, std::size_t at) const {
    for (const ShortForm& form : kShortForms) {
      if (form.key != key) continue;
      if (key == "curves" && !node.is_word("roofline")) return node.wrapped("file");
      if (key == "curves") return node.empty_mapping().with(node.text(), node.empty_mapping());
      if (form.long_key.empty()) return node.empty_mapping();
      YamlNode mapping = node.wrapped(std::string(form.long_key));
      if (form.kind.empty()) return mapping;
      return mapping.with("distribution", parse_yaml(option_, form.kind, true));
    }
    fail(fmt::format("{} is a single value, {}: there is nothing below it", quote(path_.substr(0, at - 1)),
                     quote(node.text())));
  }

  std::string option_;
  Location at_;
  std::string path_;
  YamlNode value_;
  YamlNode place_;  // an empty mapping that stands in the option
};

}  // namespace

YamlNode apply_override(const YamlNode& document, const std::string& setting) {
  return Override(setting).apply(document);
}

YamlNode apply_override(const YamlNode& document, const std::string& path, const YamlNode& value) {
  return Override(path, value).apply(document);
}

}  // namespace poolcast
