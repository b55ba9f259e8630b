// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/error.h"
#include "scenarios/traces/fields.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/text_trace.h"

namespace poolcast {
namespace {

constexpr std::string_view kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";

/// Azure LLM inference traces of 2023 and 2024 (Azure/AzurePublicDataset): civil time, prompt and output tokens.
class AzureReader final : public TextTrace {
 public:
  AzureReader(const TraceSpec& spec, TraceLog& log) : TextTrace(spec.file, log) {
    std::string_view header;
    if (!take_line(header)) throw ConfigError(Location{spec.file}, "", "the file is empty");
    if (header != kHeader)
      throw ConfigError(Location{spec.file, 1, 1, std::string(header)}, "",
                        fmt::format("an Azure trace begins with the header \"{}\"", kHeader));
  }

 private:
  bool parse(std::string_view line, TraceRow& row) override {
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    if (first == line.npos || second == line.npos || line.find(',', second + 1) != line.npos)
      return bad(Oddity::kMissingField, line, "a row has 3 fields: time, prompt tokens, output tokens");
    const std::string_view time = line.substr(0, first), prompt = line.substr(first + 1, second - first - 1),
                           output = line.substr(second + 1);
    const auto instant = parse_instant(time);
    if (!instant) return bad(Oddity::kBadValue, time, fmt::format("{} is no date and time", quote(time)));
    const auto prompt_tokens = parse_integer(prompt), output_tokens = parse_integer(output);
    if (!prompt_tokens) return bad(Oddity::kBadValue, prompt, fmt::format("{} is no token count", quote(prompt)));
    if (!output_tokens) return bad(Oddity::kBadValue, output, fmt::format("{} is no token count", quote(output)));
    if (first_ns_ == INT64_MIN) first_ns_ = *instant;
    row.timestamp = Seconds(static_cast<double>(*instant - first_ns_) / 1e9);  // exact, where * 1e-9 is not
    row.prompt_tokens = *prompt_tokens;
    row.output_tokens = *output_tokens;
    return true;
  }

  std::int64_t first_ns_ = INT64_MIN;  // times are exact relative to it; since 1970 they would not fit a double
};

}  // namespace

std::unique_ptr<TraceReader> open_azure(const TraceSpec& spec, TraceLog& log) {
  return std::make_unique<AzureReader>(spec, log);
}

}  // namespace poolcast
