// SPDX-License-Identifier: Apache-2.0
#include "scenarios/yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "scenarios/yaml_tree.h"

namespace poolcast {
namespace {

std::string bound_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

std::string_view kind_name(YamlNode::Kind kind) {
  constexpr std::string_view kNames[] = {"nothing", "a single value", "a list", "a mapping"};
  return kNames[static_cast<int>(kind)];
}

std::string joined_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

Location YamlNode::Data::location(const std::shared_ptr<const Source>& source, YamlPlace place) {
  Location at;
  if (!source) return at;
  at.file = source->name;
  if (source->one_line) return at;
  at.line = place.line;
  at.column = place.column;
  std::string_view text = source->text;
  for (int line = 1; line < place.line; ++line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  at.source_line = text;
  return at;
}

YamlNode::YamlNode() : data_(std::make_shared<Data>()) {}

YamlNode::Kind YamlNode::kind() const { return data_->kind; }

Location YamlNode::location(std::size_t offset) const {
  Location at = Data::location(data_->source, data_->place);
  if (offset == 0 || at.column == 0) return at;
  // Only a scalar that stands in its line as it reads has columns of its own.
  const std::size_t begin = static_cast<std::size_t>(at.column) - 1 + (data_->quoted ? 1 : 0);
  if (at.source_line.compare(std::min(begin, at.source_line.size()), data_->text.size(), data_->text) == 0) {
    at.column = static_cast<int>(begin + std::min(offset, data_->text.size())) + 1;
  }
  return at;
}

YamlNode YamlNode::renamed(std::string path) const { return {data_, std::move(path)}; }

const std::string& YamlNode::text() const {
  if (!is_scalar()) fail("expected a single value, got " + std::string(kind_name(kind())));
  return data_->text;
}

bool YamlNode::boolean() const {
  if (is_word("true")) return true;
  if (!is_word("false")) fail("expected true or false, got " + quote(text()));
  return false;
}

std::int64_t YamlNode::integer(std::int64_t min, std::int64_t max) const {
  const std::string& word = text();
  const char* const first = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-' ? 1 : 0);
  const char* const last = word.data() + word.size();
  std::int64_t value = 0;
  const auto whole = std::from_chars(first, last, value);
  bool in_range = whole.ec != std::errc::result_out_of_range;
  if (whole.ec == std::errc::invalid_argument || whole.ptr != last) {
    constexpr double kExact = 9007199254740992;  // 2^53: above it a double skips whole numbers
    double real = 0;
    const auto parsed = std::from_chars(first, last, real);
    in_range = parsed.ec == std::errc();
    if (parsed.ec == std::errc::invalid_argument || parsed.ptr != last || (in_range && !(std::floor(real) == real))) {
      fail("expected a whole number, got " + quote(word));
    }
    in_range = in_range && std::abs(real) <= kExact;
    if (in_range) value = static_cast<std::int64_t>(real);
  }
  if (in_range && value >= min && value <= max) return value;
  if (in_range && value < min && max == INT64_MAX) {
    fail("must be a whole number of at least " + std::to_string(min) + ", got " + quote(word));
  }
  fail("must be a whole number from " + std::to_string(min) + " to " + std::to_string(max) + ", got " + quote(word));
}

double YamlNode::number(double min, double max) const {
  const std::string& word = text();
  const char* const first = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-' ? 1 : 0);
  const char* const last = word.data() + word.size();
  double value = 0;
  const auto parsed = std::from_chars(first, last, value);
  const bool too_large = parsed.ec == std::errc::result_out_of_range;
  if ((parsed.ec != std::errc() && !too_large) || parsed.ptr != last) fail("expected a number, got " + quote(word));
  if (too_large || !std::isfinite(value)) fail("expected a finite number, got " + quote(word));
  if (value < min) fail("must be at least " + bound_text(min) + ", got " + quote(word));
  if (value > max) fail("must be at most " + bound_text(max) + ", got " + quote(word));
  return value;
}

std::size_t YamlNode::choice(const std::vector<std::string_view>& allowed) const {
  const std::string& word = text();
  const auto found = std::find(allowed.begin(), allowed.end(), word);
  if (found != allowed.end()) return static_cast<std::size_t>(found - allowed.begin());
  fail("unknown value " + quote(word), spelling_hint(word, allowed));
}

bool YamlNode::quoted() const { return data_->quoted; }

bool YamlNode::is_word(std::string_view word) const { return is_scalar() && !data_->quoted && data_->text == word; }

std::size_t YamlNode::size() const { return data_->entries.size(); }

std::vector<YamlNode> YamlNode::items() const {
  if (!is_list()) fail("expected a list, got " + std::string(kind_name(kind())));
  std::vector<YamlNode> nodes;
  nodes.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    nodes.push_back({data_->entries[i].value, path_ + "[" + std::to_string(i) + "]"});
  }
  return nodes;
}

std::vector<YamlNode> YamlNode::one_or_more() const {
  if (is_list()) return items();
  return {renamed(path_ + "[0]")};
}

std::vector<std::pair<std::string, YamlNode>> YamlNode::entries() const {
  if (!is_mapping()) fail("expected a mapping, got " + std::string(kind_name(kind())));
  std::vector<std::pair<std::string, YamlNode>> pairs;
  pairs.reserve(size());
  for (const Data::Entry& entry : data_->entries) {
    pairs.emplace_back(entry.key, YamlNode(entry.value, joined_path(path_, entry.key)));
  }
  return pairs;
}

std::optional<YamlNode> YamlNode::find(std::string_view key) const {
  const Data::Entry* const entry = data_->find(key);
  if (entry == nullptr) return std::nullopt;
  return YamlNode(entry->value, joined_path(path_, key));
}

Location YamlNode::key_location(std::string_view key) const {
  const Data::Entry* const entry = data_->find(key);
  return entry == nullptr ? location() : Data::location(entry->key_source, entry->key_place);
}

void YamlNode::fail(std::string_view message, std::string_view hint) const { fail_at(0, message, hint); }

void YamlNode::fail_at(std::size_t offset, std::string_view message, std::string_view hint) const {
  throw ConfigError(location(offset), path_, message, hint);
}

YamlNode YamlNode::with(const std::string& key, const YamlNode& value) const {
  auto data = std::make_shared<Data>(*data_);
  if (!is_mapping()) data = std::make_shared<Data>(*empty_mapping().data_);
  auto entry = std::find_if(data->entries.begin(), data->entries.end(), [&](const auto& e) { return e.key == key; });
  if (entry == data->entries.end()) {
    entry = data->entries.insert(entry, {key, value.data_->place, value.data_->source, nullptr});
  }
  entry->value = value.data_;
  return {std::move(data), path_};
}

YamlNode YamlNode::without(std::string_view key) const {
  auto data = std::make_shared<Data>(*data_);
  std::erase_if(data->entries, [&](const auto& entry) { return entry.key == key; });
  return {std::move(data), path_};
}

YamlNode YamlNode::with_item(std::size_t index, const YamlNode& value) const {
  auto data = std::make_shared<Data>(*data_);
  data->entries.at(index).value = value.data_;
  return {std::move(data), path_};
}

YamlNode YamlNode::wrapped(const std::string& key) const { return empty_mapping().with(key, *this); }

YamlNode YamlNode::empty_mapping() const {
  auto data = std::make_shared<Data>();
  data->kind = Kind::kMapping;
  data->place = data_->place;
  data->source = data_->source;
  return {std::move(data), path_};
}

YamlNode YamlNode::joined(const YamlNode& other, const std::vector<std::string_view>& lists) const {
  const auto items = [](const Data::Entry& entry) {
    if (entry.value->kind == Kind::kList) return entry.value->entries;
    return std::vector<Data::Entry>{{"", {}, entry.value->source, entry.value}};
  };
  auto data = std::make_shared<Data>(*data_);
  for (const Data::Entry& added : other.data_->entries) {
    auto known =
        std::find_if(data->entries.begin(), data->entries.end(), [&](const auto& e) { return e.key == added.key; });
    if (known == data->entries.end()) {
      data->entries.push_back(added);
    } else if (std::find(lists.begin(), lists.end(), added.key) == lists.end() || known->value->kind == Kind::kNull ||
               added.value->kind == Kind::kNull) {
      *known = added;
    } else {
      auto list = std::make_shared<Data>(*known->value);
      list->kind = Kind::kList;
      list->entries = items(*known);
      for (Data::Entry& item : items(added)) list->entries.push_back(std::move(item));
      known->value = std::move(list);
    }
  }
  return {std::move(data), path_};
}

std::string YamlNode::file() const {
  return data_->source && !data_->source->one_line ? data_->source->name : std::string();
}

}  // namespace poolcast
