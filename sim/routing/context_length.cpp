// SPDX-License-Identifier: Apache-2.0
// Rule: endpoints say by a label for which prompt lengths they are meant ("2048-8192"); a request goes to the narrowest
// range that fits with most room above it. Source: llm-d's context-length-aware.
#include <charconv>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

struct LengthRange {
  enum class State : std::uint8_t { kNone, kBad, kRange };
  State state = State::kNone;
  std::int64_t low = 0, high = 0;

  bool holds(std::int64_t tokens) const { return tokens >= low && tokens <= high; }
};

bool parse_bound(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

LengthRange parse_range(std::string_view text) {
  LengthRange range;
  const std::size_t dash = text.find('-');
  const bool good = dash != std::string_view::npos && parse_bound(text.substr(0, dash), range.low) &&
                    parse_bound(text.substr(dash + 1), range.high) && range.low >= 0 && range.high >= range.low;
  range.state = good ? LengthRange::State::kRange : LengthRange::State::kBad;
  return range;
}

/// In range: from 0.3 to 1 by narrowness (10,000 tokens halve it) and room above. Outside: below 0.3 by distance.
double score_of(const LengthRange& range, std::int64_t tokens) {
  if (range.state == LengthRange::State::kNone) return 0.5;
  if (range.state == LengthRange::State::kBad) return 0;
  if (!range.holds(tokens)) {
    const std::int64_t distance = tokens < range.low ? range.low - tokens : tokens - range.high;
    return 0.3 / (1.0 + static_cast<double>(distance) / 1000.0);
  }
  const auto width = static_cast<double>(range.high - range.low);
  const double narrow = 1.0 / (1.0 + width / 10000.0);
  const double room = width > 0 ? static_cast<double>(range.high - tokens) / width : 1.0;
  return 0.3 + 0.7 * (0.7 * narrow + 0.3 * room);
}

class ContextLengthAware : public Plugin, public Filter, public Scorer {
 public:
  explicit ContextLengthAware(const Settings& settings)
      : label_(settings.text("label")), filtering_(settings.boolean("enableFiltering")) {}

  void bind(const Endpoints& endpoints) override {
    ranges_.assign(endpoints.size(), LengthRange());
    for (std::size_t e = 0; e < endpoints.labels.size(); ++e) {
      for (const auto& [key, value] : endpoints.labels[e]) {
        if (key == label_) ranges_[e] = parse_range(value);
      }
    }
  }

  void filter(const RequestView& request, const Endpoints&, std::vector<std::uint32_t>& kept) override {
    if (!filtering_) return;
    std::erase_if(kept, [&](std::uint32_t e) {
      const LengthRange& range = ranges_[e];
      return range.state == LengthRange::State::kBad ||
             (range.state == LengthRange::State::kRange && !range.holds(request.prompt_tokens));
    });
  }

  void score(const RequestView& request, const Endpoints&, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      scores[i] = score_of(ranges_[candidates[i]], request.prompt_tokens);
    }
  }

 private:
  std::string label_;
  bool filtering_;
  std::vector<LengthRange> ranges_;
};

}  // namespace

void add_context_length(std::vector<PluginInfo>& table) {
  table.push_back(
      {"context-length-aware",
       "filter and scorer",
       "llm-d",
       "endpoints labelled with the prompt lengths they are meant for (\"2048-8192\"): inside 0.3 + 0.7 (0.7 / (1 + "
       "width / 10000) + 0.3 (high - tokens) / width), outside 0.3 / (1 + distance / 1000), no label 0.5, a bad one 0",
       {{"label", ParameterKind::kText, "llm-d.ai/context-length-range", "", "the label that is read"},
        {"enableFiltering", ParameterKind::kBoolean, "false", "", "also drop endpoints whose range does not fit"}},
       make_of_settings<ContextLengthAware>});
}

}  // namespace poolcast::routing
