// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poolcast::routing {

/// A value as a policy author wrote it, before its plugin has looked at it.
struct Value {
  enum class Kind : std::uint8_t { kNull, kBoolean, kNumber, kText, kList, kMap };
  Kind kind = Kind::kNull;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::vector<std::string> keys;  ///< of a map: keys[i] names items[i]
  std::vector<Value> items;

  const Value* find(std::string_view key) const;  ///< null when absent
};

Value boolean_value(bool boolean);
Value number_value(double number);
Value text_value(std::string text);
Value list_value(std::vector<Value> items);
Value map_value(std::vector<std::pair<std::string, Value>> entries);

/// A plugin refuses its parameters: the user's to mend.
class ParameterFault : public std::runtime_error {
 public:
  ParameterFault(std::vector<std::string> where, const std::string& message, std::vector<std::string> known = {})
      : std::runtime_error(message), path(std::move(where)), allowed(std::move(known)) {}
  std::vector<std::string> path;     ///< keys, and indices as digits, below the plugin's parameters
  std::vector<std::string> allowed;  ///< what could stand there instead, for a hint
  bool at_key = false;               ///< the key itself is wrong, not its value
};

enum class ParameterKind : std::uint8_t { kBoolean, kInteger, kNumber, kText, kDuration, kAny };

struct ParameterInfo {
  std::string_view name;
  ParameterKind kind;
  std::string_view standard;  ///< the default as it would be written; empty: none
  std::string_view allowed;   ///< an interval such as "(0, 1]", or words such as "least|most"; empty: anything
  std::string_view meaning;
};

/// The parameters of one plugin: those given, the rest by default. Reading them by another kind than their table says
/// is a fault of the program.
class Settings {
 public:
  /// Throws ParameterFault for an unknown key, a value of another kind, or one outside what is allowed.
  Settings(const std::vector<ParameterInfo>& table, const Value& given);

  bool boolean(std::string_view name) const { return at(name).boolean; }
  std::int64_t integer(std::string_view name) const { return static_cast<std::int64_t>(at(name).number); }
  double number(std::string_view name) const { return at(name).number; }
  const std::string& text(std::string_view name) const { return at(name).text; }
  double milliseconds(std::string_view name) const { return at(name).number; }
  const Value& raw(std::string_view name) const { return at(name); }  ///< kNull when absent

 private:
  const Value& at(std::string_view name) const;
  std::vector<std::string_view> names_;
  std::vector<Value> values_;
};

/// Milliseconds of a duration as Go writes it: 200ms, 1m30s, 1.5h, 100us. Negative: not one.
double parse_duration_ms(std::string_view text);

/// The shortest decimal that reads back as `value`.
std::string shortest(double value);

// For plugins that read a list or a map by themselves. Each throws ParameterFault at `path`.
void expect_kind(const Value& value, Value::Kind kind, const std::vector<std::string>& path);
void expect_keys(const Value& map, const std::vector<std::string>& known, const std::vector<std::string>& path);

}  // namespace poolcast::routing
