// SPDX-License-Identifier: Apache-2.0
#include "scenarios/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <istream>
#include <map>
#include <streambuf>

namespace poolcast {
namespace {

constexpr std::size_t kDeepest = 64;              // levels; the reader recurses
constexpr std::uint64_t kMostValues = 1'000'000;  // aliases expanded; a bomb of aliases stops here
constexpr std::size_t kLargestFile = std::size_t{64} << 20U;

std::string_view kind_name(YamlNode::Kind kind) {
  constexpr std::string_view kNames[] = {"nothing", "a single value", "a list", "a mapping"};
  return kNames[static_cast<int>(kind)];
}

std::string bound_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

struct YamlNode::Source {
  std::string name;
  std::string text;
  bool one_line = false;
};

namespace {

/// Where a value or key begins. Line and column count from 1.
struct Place {
  int line = 0;
  int column = 0;
};

}  // namespace

struct YamlNode::Data {
  struct Entry {
    std::string key;  // empty in a list
    Place key_place;
    std::shared_ptr<const Source> key_source;
    std::shared_ptr<const Data> value;
  };

  Kind kind = Kind::kNull;
  std::string text;
  bool quoted = false;
  Place place;
  std::shared_ptr<const Source> source;
  std::vector<Entry> entries;
  std::uint64_t values = 1;  // this one and all below, aliases expanded

  const Entry* find(std::string_view key) const {
    for (const Entry& entry : entries) {
      if (kind == Kind::kMapping && entry.key == key) return &entry;
    }
    return nullptr;
  }

  static Location location(const std::shared_ptr<const Source>& source, Place place) {
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
};

/// Builds the tree from the library's events, which carry a mark for keys and values alike.
class YamlBuilder : public YAML::EventHandler {
 public:
  using Data = YamlNode::Data;
  using Source = YamlNode::Source;
  using Kind = YamlNode::Kind;

  explicit YamlBuilder(std::shared_ptr<const Source> source) : source_(std::move(source)) {}
  std::shared_ptr<const Data> root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(start(Kind::kNull, mark), anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias inside the value that it stands for");
    if (wants_key()) fail(mark, "an alias cannot be a key");
    place_value(found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (wants_key()) return add_key(mark, text);
    auto data = start(Kind::kScalar, mark);
    data->text = text;
    data->quoted = is_text_tag(mark, tag);
    add(std::move(data), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Kind::kList, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Kind::kMapping, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    std::shared_ptr<Data> data;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::map<std::string, Place> keys;
  };

  static Place place(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const {
    throw ConfigError(Data::location(source_, place(mark)), "", message);
  }
  bool is_text_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return true;
    if (!tag.empty() && tag != "?") fail(mark, "the tag " + quote(tag) + " is not supported");
    return false;
  }
  bool wants_key() const {
    return !open_.empty() && open_.back().data->kind == Kind::kMapping && !open_.back().has_key;
  }
  std::shared_ptr<Data> start(Kind kind, const YAML::Mark& mark) const {
    auto data = std::make_shared<Data>();
    data->kind = kind;
    data->place = place(mark);
    data->source = source_;
    return data;
  }
  void add_key(const YAML::Mark& mark, const std::string& key) {
    Open& top = open_.back();
    const auto [known, is_new] = top.keys.emplace(key, place(mark));
    if (!is_new)
      fail(mark, "duplicate key " + quote(key) + "; the first is in line " + std::to_string(known->second.line));
    top.data->entries.push_back({key, place(mark), source_, nullptr});
    top.has_key = true;
  }
  void add(std::shared_ptr<Data> data, YAML::anchor_t anchor) {
    if (wants_key()) {
      throw ConfigError(Data::location(source_, data->place), "",
                        "expected a key here; is one left out, or a bracket not closed?");
    }
    // A key without a value has no mark of its own.
    if (data->kind == Kind::kNull && !open_.empty() && open_.back().has_key) {
      data->place = open_.back().data->entries.back().key_place;
    }
    if (anchor != 0) anchors_[anchor] = data;
    place_value(std::move(data));
  }
  [[noreturn]] void fail_key(Place at) const {
    throw ConfigError(Data::location(source_, at), "", "a list or a mapping cannot be a key; is a bracket not closed?");
  }
  void place_value(std::shared_ptr<const Data> value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& top = open_.back();
    top.data->values += value->values;
    if (top.data->values > kMostValues) {
      throw ConfigError(Data::location(source_, top.data->place), "",
                        "more than " + std::to_string(kMostValues) + " values once aliases are expanded");
    }
    if (top.data->kind == Kind::kMapping) {
      top.data->entries.back().value = std::move(value);
      top.has_key = false;
    } else {
      top.data->entries.push_back({"", {}, source_, std::move(value)});
    }
  }
  void open(Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    is_text_tag(mark, tag);
    if (wants_key()) fail_key(place(mark));
    if (open_.size() >= kDeepest) fail(mark, "nested more than " + std::to_string(kDeepest) + " levels deep");
    open_.push_back({start(kind, mark), anchor, false, {}});
  }
  void close() {
    auto data = std::move(open_.back().data);
    const YAML::anchor_t anchor = open_.back().anchor;
    open_.pop_back();
    if (anchor != 0) anchors_[anchor] = data;
    place_value(std::move(data));
  }

  std::shared_ptr<const Source> source_;
  std::shared_ptr<const Data> root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::shared_ptr<const Data>> anchors_;
};

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

namespace {

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

}  // namespace

std::vector<std::pair<std::string, YamlNode>> YamlNode::entries() const {
  if (!is_mapping()) fail("expected a mapping, got " + std::string(kind_name(kind())));
  std::vector<std::pair<std::string, YamlNode>> pairs;
  pairs.reserve(size());
  for (const Data::Entry& entry : data_->entries) {
    pairs.emplace_back(entry.key, YamlNode(entry.value, joined(path_, entry.key)));
  }
  return pairs;
}

std::optional<YamlNode> YamlNode::find(std::string_view key) const {
  const Data::Entry* const entry = data_->find(key);
  if (entry == nullptr) return std::nullopt;
  return YamlNode(entry->value, joined(path_, key));
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

namespace {

/// A stream over text that is already in memory, without another copy.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // only read from
    setg(begin, begin, begin + text.size());
  }
};

/// Offset of the first byte that is not part of printable UTF-8 text, or npos. The library would replace or misread it.
std::size_t first_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if ((lead < 0x20 && lead != '\t' && lead != '\n' && lead != '\r') || lead == 0x7f) return i;
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0U) != 0x80) return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

[[noreturn]] void fail_bad_byte(const std::string& name, std::string_view text, std::size_t at) {
  Location place{name};
  place.line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  const auto byte = static_cast<unsigned char>(text[at]);
  char shown[8];
  std::snprintf(shown, sizeof shown, "0x%02x", byte);
  throw ConfigError(place, "", std::string("not plain UTF-8 text: byte ") + shown);
}

/// The library names grammar rules; the user wants to know what to look at.
std::string in_our_words(const std::string& message, const Location& at) {
  const std::string indentation = at.source_line.substr(0, at.source_line.find_first_not_of(" \t"));
  if (indentation.find('\t') != std::string::npos) return "a tab cannot indent, only blanks can";
  const std::pair<const char*, const char*> words[] = {
      {YAML::ErrorMsg::END_OF_MAP, "the indentation does not fit the lines above"},
      {YAML::ErrorMsg::END_OF_SEQ, "the indentation does not fit the lines above"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "a \"{\" is not closed, or a comma is missing"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a \"[\" is not closed, or a comma is missing"},
      {YAML::ErrorMsg::MAP_VALUE, "a \":\" where no value can begin; text that holds one needs quotes"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR, "this alias stands for nothing; no anchor has its name"},
      {YAML::ErrorMsg::UNKNOWN_TOKEN, "no value can begin like this; text that does needs quotes"}};
  for (const auto& [library, ours] : words) {
    if (message == library) return ours;
  }
  return message;
}

}  // namespace

YamlNode parse_yaml(const std::string& name, std::string_view text, bool one_line) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.substr(0, 3) == kByteOrderMark) text.remove_prefix(3);
  if (const std::size_t bad = first_bad_byte(text); bad != std::string_view::npos) fail_bad_byte(name, text, bad);

  const auto source = std::make_shared<const YamlNode::Source>(YamlNode::Source{name, std::string(text), one_line});
  YamlBuilder builder(source);
  TextBuffer buffer(source->text);
  std::istream stream(&buffer);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder) && !one_line) throw ConfigError(Location{name}, "", "the file is empty");
    YamlBuilder rest(source);
    if (parser.HandleNextDocument(rest)) throw ConfigError(Location{name}, "", "holds more than one YAML document");
  } catch (const YAML::Exception& fault) {
    const Location at = YamlNode::Data::location(source, Place{fault.mark.line + 1, fault.mark.column + 1});
    throw ConfigError(at, "", "not valid YAML: " + in_our_words(fault.msg, at));
  }
  auto root = builder.root();
  if (!root) {
    auto nothing = std::make_shared<YamlNode::Data>();
    nothing->source = source;
    root = std::move(nothing);
  }
  return {std::move(root), ""};
}

std::string read_text_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  const auto fail = [&](const std::string& why) {
    throw FileError(Location{path}, "", "cannot read the file: " + why);
  };
  if (!file) fail(std::strerror(errno));
  std::string text;
  char block[1 << 16];
  while (const std::size_t n = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, n);
    if (text.size() > kLargestFile) fail("larger than 64 MiB");
  }
  if (std::ferror(file.get()) != 0) fail(std::strerror(errno));
  return text;
}

YamlNode load_yaml_file(const std::string& path) { return parse_yaml(path, read_text_file(path)); }

MappingReader::MappingReader(YamlNode mapping) : mapping_(std::move(mapping)) {
  if (!mapping_.is_mapping()) mapping_.fail("expected a mapping, got " + std::string(kind_name(mapping_.kind())));
}

bool MappingReader::has(std::string_view key) const { return mapping_.find(key).has_value(); }

YamlNode MappingReader::required(const std::string& key) {
  auto value = optional(key);
  if (value) return *value;
  std::vector<std::string> others;
  for (const auto& [name, ignored] : mapping_.entries()) {
    if (asked_.count(name) == 0) others.push_back(name);
  }
  const std::string_view slip = nearest(key, {others.begin(), others.end()});
  if (!slip.empty()) fail_at_key(slip, "unknown key", "did you mean " + quote(key) + "?");
  mapping_.fail("missing key " + quote(key));
}

std::optional<YamlNode> MappingReader::optional(const std::string& key) {
  asked_.insert(key);
  auto value = mapping_.find(key);
  if (value && value->is_null()) value->fail("has no value");
  return value;
}

std::pair<std::size_t, YamlNode> MappingReader::one_of(const std::vector<std::string>& keys) {
  std::optional<std::pair<std::size_t, YamlNode>> chosen;
  std::string list;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == keys.size() ? " or " : ", ") + keys[i];
    auto value = optional(keys[i]);
    if (!value) continue;
    if (chosen) fail_at_key(keys[i], "stands beside " + quote(keys[chosen->first]) + ", and only one of them can hold");
    chosen.emplace(i, *value);
  }
  if (!chosen) mapping_.fail("needs one of " + list);
  return *chosen;
}

void MappingReader::not_modelled_yet(const std::vector<std::string>& keys) const {
  for (const std::string& key : keys) {
    if (has(key)) fail_at_key(key, "this key is known but not modelled yet");
  }
}

void MappingReader::finish() const {
  for (const auto& [key, value] : mapping_.entries()) {
    if (asked_.count(key) == 0) fail_at_key(key, "unknown key", spelling_hint(key, {asked_.begin(), asked_.end()}));
  }
}

void MappingReader::fail_at_key(std::string_view key, std::string_view message, std::string_view hint) const {
  throw ConfigError(mapping_.key_location(key), joined(mapping_.path(), key), message, hint);
}

}  // namespace poolcast
