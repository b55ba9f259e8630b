// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace poolcast::routing {
namespace {

using Path = std::vector<std::string>;

const char* describe(Value::Kind kind) {
  static constexpr const char* kNames[] = {"nothing", "true or false", "a number", "text", "a list", "a mapping"};
  return kNames[static_cast<std::size_t>(kind)];
}

double parse_number(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// `allowed` is an interval: "[0, 1]", "(0, inf)".
bool inside(double value, std::string_view allowed) {
  const std::size_t comma = allowed.find(',');
  const double low = parse_number(allowed.substr(1, comma - 1));
  const double high = parse_number(allowed.substr(comma + 2, allowed.size() - comma - 3));
  return (allowed.front() == '[' ? value >= low : value > low) &&
         (allowed.back() == ']' ? value <= high : value < high);
}

std::vector<std::string> words(std::string_view allowed) {
  std::vector<std::string> list(1);
  for (const char c : allowed) {
    if (c == '|') {
      list.emplace_back();
    } else {
      list.back() += c;
    }
  }
  return list;
}

Value standard_value(const ParameterInfo& info) {
  if (info.standard.empty()) return {};
  switch (info.kind) {
    case ParameterKind::kBoolean:
      return boolean_value(info.standard == "true");
    case ParameterKind::kInteger:
    case ParameterKind::kNumber:
      return number_value(parse_number(info.standard));
    case ParameterKind::kText:
    case ParameterKind::kDuration:
    case ParameterKind::kAny:
      break;
  }
  return text_value(std::string(info.standard));
}

void check_number(const ParameterInfo& info, double value, const Path& path) {
  if (info.kind == ParameterKind::kInteger && (value != std::floor(value) || std::fabs(value) > 0x1p53)) {
    throw ParameterFault(path, "must be a whole number, got " + shortest(value));
  }
  if (!info.allowed.empty() && !inside(value, info.allowed)) {
    throw ParameterFault(path, "must be in " + std::string(info.allowed) + ", got " + shortest(value));
  }
}

/// The value in the form that plugins read: a duration becomes its milliseconds.
Value checked(const ParameterInfo& info, Value value) {
  const Path path{std::string(info.name)};
  switch (info.kind) {
    case ParameterKind::kBoolean:
      expect_kind(value, Value::Kind::kBoolean, path);
      break;
    case ParameterKind::kInteger:
    case ParameterKind::kNumber:
      expect_kind(value, Value::Kind::kNumber, path);
      check_number(info, value.number, path);
      break;
    case ParameterKind::kDuration:
      expect_kind(value, Value::Kind::kText, path);
      value.number = parse_duration_ms(value.text);
      if (value.number < 0) throw ParameterFault(path, "must be a duration such as 200ms, got " + value.text);
      if (!info.allowed.empty() && !inside(value.number, info.allowed)) {
        throw ParameterFault(path, "must be in " + std::string(info.allowed) + " milliseconds, got " + value.text);
      }
      break;
    case ParameterKind::kText:
      expect_kind(value, Value::Kind::kText, path);
      if (const auto list = words(info.allowed);
          !info.allowed.empty() && std::find(list.begin(), list.end(), value.text) == list.end()) {
        throw ParameterFault(path, "must not be \"" + value.text + "\"", list);
      }
      break;
    case ParameterKind::kAny:
      break;
  }
  return value;
}

}  // namespace

Value boolean_value(bool boolean) {
  Value value;
  value.kind = Value::Kind::kBoolean;
  value.boolean = boolean;
  return value;
}

Value number_value(double number) {
  Value value;
  value.kind = Value::Kind::kNumber;
  value.number = number;
  return value;
}

Value text_value(std::string text) {
  Value value;
  value.kind = Value::Kind::kText;
  value.text = std::move(text);
  return value;
}

Value list_value(std::vector<Value> items) {
  Value value;
  value.kind = Value::Kind::kList;
  value.items = std::move(items);
  return value;
}

Value map_value(std::vector<std::pair<std::string, Value>> entries) {
  Value value;
  value.kind = Value::Kind::kMap;
  for (auto& [key, item] : entries) {
    value.keys.push_back(std::move(key));
    value.items.push_back(std::move(item));
  }
  return value;
}

const Value* Value::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

Settings::Settings(const std::vector<ParameterInfo>& table, const Value& given) {
  Path known;
  for (const ParameterInfo& info : table) known.emplace_back(info.name);
  if (given.kind != Value::Kind::kNull) {
    expect_kind(given, Value::Kind::kMap, {});
    expect_keys(given, known, {});
  }
  for (const ParameterInfo& info : table) {
    const Value* value = given.find(info.name);
    if (value != nullptr && value->kind == Value::Kind::kNull) value = nullptr;
    Value read = value != nullptr ? *value : standard_value(info);
    names_.push_back(info.name);
    values_.push_back(read.kind == Value::Kind::kNull ? read : checked(info, std::move(read)));
  }
}

const Value& Settings::at(std::string_view name) const {
  const auto place = std::find(names_.begin(), names_.end(), name);
  if (place == names_.end()) std::abort();
  return values_[static_cast<std::size_t>(place - names_.begin())];
}

double parse_duration_ms(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1e-6}, {"us", 1e-3}, {"\xc2\xb5s", 1e-3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}};
  if (text == "0") return 0;
  if (text.empty()) return -1;
  double sum = 0;
  while (!text.empty()) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc() || value < 0) return -1;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    const std::size_t unit_size = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view unit = text.substr(0, unit_size);
    double scale = 0;
    for (const auto& [name, milliseconds] : kUnits) {
      if (name == unit) scale = milliseconds;
    }
    if (scale == 0) return -1;
    sum += value * scale;
    text.remove_prefix(unit_size);
  }
  return sum;
}

std::string shortest(double value) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void expect_kind(const Value& value, Value::Kind kind, const Path& path) {
  if (value.kind == kind) return;
  throw ParameterFault(path, std::string("must be ") + describe(kind) + ", got " + describe(value.kind));
}

void expect_keys(const Value& map, const std::vector<std::string>& known, const Path& path) {
  for (const std::string& key : map.keys) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    Path where = path;
    where.push_back(key);
    ParameterFault fault(where, "unknown key", known);
    fault.at_key = true;
    throw fault;
  }
}

}  // namespace poolcast::routing
