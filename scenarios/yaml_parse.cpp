// SPDX-License-Identifier: Apache-2.0
// The tree from text: the one file that includes the YAML library.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <istream>
#include <map>
#include <streambuf>

#include "scenarios/yaml_tree.h"

namespace poolcast {
namespace {

constexpr std::size_t kDeepest = 64;              // levels; the reader recurses
constexpr std::uint64_t kMostValues = 1'000'000;  // aliases expanded; a bomb of aliases stops here
constexpr std::size_t kLargestFile = std::size_t{64} << 20U;

}  // namespace

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
    std::map<std::string, YamlPlace> keys;
  };

  static YamlPlace place(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }
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
  [[noreturn]] void fail_key(YamlPlace at) const {
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
    const Location at = YamlNode::Data::location(source, YamlPlace{fault.mark.line + 1, fault.mark.column + 1});
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

}  // namespace poolcast
