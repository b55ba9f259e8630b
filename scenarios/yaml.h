// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/error.h"

/// The one wrapper around the YAML library. It mends what the library leaves open: marks count from 1, a duplicate key
/// is an error, a missing key points at its mapping, an unknown key names the nearest one, an alias cannot grow without
/// bound, and every fault is a ConfigError with its place.
namespace poolcast {

/// A value in a YAML document, with its place in the file and its key path. Copies are cheap and share the document;
/// a node never changes.
class YamlNode {
 public:
  enum class Kind { kNull, kScalar, kList, kMapping };

  YamlNode();  ///< null, nowhere

  Kind kind() const;
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_scalar() const { return kind() == Kind::kScalar; }
  bool is_list() const { return kind() == Kind::kList; }
  bool is_mapping() const { return kind() == Kind::kMapping; }

  /// Where the value begins, with its source line. `offset` moves the column into a scalar that stands on one line.
  Location location(std::size_t offset = 0) const;
  /// "pools[1].link"; empty for the document itself.
  const std::string& path() const { return path_; }
  /// The same value under another name in messages.
  YamlNode renamed(std::string path) const;

  // Scalars. Each throws ConfigError when the value is of another kind or outside the bounds given.
  const std::string& text() const;  ///< as written, without quotes: `0.20` stays "0.20"
  bool boolean() const;             ///< true or false
  std::int64_t integer(std::int64_t min = INT64_MIN, std::int64_t max = INT64_MAX) const;  ///< 20000, 2e4
  double number(double min = -1e300, double max = 1e300) const;                            ///< always finite
  /// Index of the value in `allowed`; anything else is an error that names the nearest or lists them all.
  std::size_t choice(const std::vector<std::string_view>& allowed) const;
  /// Whether the scalar was quoted, so that it is text whatever it looks like.
  bool quoted() const;
  /// Whether it is the unquoted word `word` (for `none`, `auto`, …).
  bool is_word(std::string_view word) const;

  // Lists.
  std::size_t size() const;                   ///< of a list or a mapping; 0 for others
  std::vector<YamlNode> items() const;        ///< of a list; throws when it is none
  std::vector<YamlNode> one_or_more() const;  ///< of a list; anything else is a list of one

  // Mappings. To read one with fixed keys use MappingReader.
  std::vector<std::pair<std::string, YamlNode>> entries() const;  ///< in file order; throws when it is no mapping
  std::optional<YamlNode> find(std::string_view key) const;       ///< nothing when absent or when this is no mapping
  Location key_location(std::string_view key) const;

  /// Throws a ConfigError that points at this value. `hint` stands behind the caret.
  [[noreturn]] void fail(std::string_view message, std::string_view hint = {}) const;
  [[noreturn]] void fail_at(std::size_t offset, std::string_view message, std::string_view hint = {}) const;

  // Changed copies, for overrides and short forms.
  YamlNode with(const std::string& key, const YamlNode& value) const;  ///< replaces or appends
  YamlNode without(std::string_view key) const;
  YamlNode with_item(std::size_t index, const YamlNode& value) const;  ///< index < size()
  YamlNode wrapped(const std::string& key) const;  ///< a mapping {key: this} at the place and under the path of this
  YamlNode empty_mapping() const;                  ///< {} at the place and under the path of this
  /// A mapping with the entries of this one and those of `other`, every value and key at its own place. Under a key of
  /// both, `other` holds, but for the keys in `lists`: there its items follow those of this one.
  YamlNode joined(const YamlNode& other, const std::vector<std::string_view>& lists) const;
  /// The file that holds this value; empty for an option of the command line, and for what no text holds.
  std::string file() const;

 private:
  struct Data;
  struct Source;
  friend class YamlBuilder;
  friend YamlNode parse_yaml(const std::string&, std::string_view, bool);
  YamlNode(std::shared_ptr<const Data> data, std::string path) : data_(std::move(data)), path_(std::move(path)) {}

  std::shared_ptr<const Data> data_;
  std::string path_;
};

/// Parses one document. `name` stands for the file in messages. `one_line` marks text that did not come from a file (an
/// option of the command line): messages then leave out line, column and source line. Throws ConfigError.
YamlNode parse_yaml(const std::string& name, std::string_view text, bool one_line = false);

/// Reads a whole text file, at most 64 MiB. Throws FileError.
std::string read_text_file(const std::string& path);

/// read_text_file and parse_yaml.
YamlNode load_yaml_file(const std::string& path);

/// Reads a mapping with fixed keys: ask for each key, then `finish` rejects the rest.
class MappingReader {
 public:
  explicit MappingReader(YamlNode mapping);  ///< throws when it is no mapping

  const YamlNode& node() const { return mapping_; }
  bool has(std::string_view key) const;
  YamlNode required(const std::string& key);                 ///< throws when absent or without a value
  std::optional<YamlNode> optional(const std::string& key);  ///< throws when present without a value
  /// Keys of which exactly one must be there: its index in `keys` and its value.
  std::pair<std::size_t, YamlNode> one_of(const std::vector<std::string>& keys);
  /// Keys that the format knows and the program does not model yet: an error that says so.
  void not_modelled_yet(const std::vector<std::string>& keys) const;
  /// Throws at the first key that nobody asked for.
  void finish() const;

  [[noreturn]] void fail_at_key(std::string_view key, std::string_view message, std::string_view hint = {}) const;

 private:
  YamlNode mapping_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace poolcast
