// SPDX-License-Identifier: Apache-2.0
#include "tools/figure_options.h"

#include <string_view>

#include "scenarios/error.h"
#include "scenarios/units.h"
#include "scenarios/yaml.h"

namespace poolcast {
namespace {

struct Setting {
  Figure figure;
  YamlNode value;
};

Setting read_setting(const char* option, const std::string& setting, const char* expected) {
  const std::size_t equals = setting.find('=');
  const YamlNode at = parse_yaml(option, "\"" + setting + "\"", true);
  if (equals == std::string::npos) at.fail(std::string("expected ") + expected + ", got " + quote(setting));
  const std::string word = setting.substr(0, equals);
  std::vector<std::string_view> names;
  for (int f = 0; f < kFigures; ++f) {
    names.emplace_back(name(static_cast<Figure>(f)));
    if (names.back() != word) continue;
    return {static_cast<Figure>(f), parse_yaml(std::string(option) + " " + word, setting.substr(equals + 1), true)};
  }
  at.fail("there is no figure " + quote(word), spelling_hint(word, names));
}

}  // namespace

void set_margin(std::vector<Margin>& margins, const std::string& setting) {
  const Setting read = read_setting("--margin", setting, "FIGURE=SHARE, such as ttft.p99=2%");
  std::erase_if(margins, [&](const Margin& margin) { return margin.figure == read.figure; });
  if (!read.value.is_word("none")) margins.push_back({read.figure, read_share(read.value)});
}

FigureLimit read_limit(const std::string& setting) {
  const Setting read = read_setting("--limit", setting, "FIGURE=VALUE, such as cost=0.002");
  if (is_share(read.figure)) return {read.figure, read_share(read.value)};
  if (read.figure == Figure::kCost) return {read.figure, read.value.number(0)};
  return {read.figure, read_seconds(read.value).value};
}

double confidence_of(const std::string& text) {
  const YamlNode node = parse_yaml("--confidence", text, true);
  const double confidence = read_share(node);
  if (!(confidence >= 0.5 && confidence < 1)) node.fail("must be from 50 % to below 100 %");
  return confidence;
}

}  // namespace poolcast
