// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/servegen_client.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "scenarios/error.h"
#include "scenarios/traces/fields.h"
#include "scenarios/traces/input_file.h"
#include "scenarios/traces/line_reader.h"

namespace poolcast {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::array<const char*, 5> kPromptTables = {"input_tokens", "text_tokens", "image_tokens", "audio_tokens",
                                                      "video_tokens"};

void skip_spaces(const char*& at, const char* end) {
  while (at < end && *at == ' ') ++at;
}

template <class T>
bool take_number(const char*& at, const char* end, T& value) {
  skip_spaces(at, end);
  const auto [stop, error] = std::from_chars(at, end, value);
  at = stop;
  skip_spaces(at, end);
  return error == std::errc();
}

bool take(const char*& at, const char* end, char c) {
  skip_spaces(at, end);
  if (at == end || *at != c) return false;
  ++at;
  return true;
}

LengthTable read_table(object bucket, const char* key, const std::string& path, std::string_view time, TraceLog& log) {
  LengthTable table;
  std::string_view text;
  if (bucket[key].get(text) != simdjson::SUCCESS) return table;
  const std::string item = fmt::format("{}.{}", time, key);
  if (!table.parse(text))
    throw ConfigError(Location{path}, item, fmt::format("{} is no table of tokens and probabilities", quote(text)));
  if (table.holds_zero())
    log.remark(Oddity::kDrawnZero, Place{0, 0, {}, item, path}, [] { return "a length of 0 tokens"; });
  return table;
}

std::vector<LengthBucket> read_buckets(const std::string& path, TraceLog& log) {
  const WholeFile whole = read_whole(path);
  simdjson::dom::parser parser;
  object times;
  if (const auto error = parser.parse(whole.bytes.data(), whole.size, false).get(times); error != simdjson::SUCCESS)
    throw ConfigError(Location{path}, "", fmt::format("no JSON object: {}", simdjson::error_message(error)));
  std::vector<LengthBucket> buckets;
  for (const auto& [time, value] : times) {
    const auto begin = parse_real(time);
    object tables;
    if (!begin || value.get(tables) != simdjson::SUCCESS)
      throw ConfigError(Location{path}, quote(time), "expected seconds and an object of length tables");
    LengthBucket bucket;
    bucket.begin_s = *begin;
    // A zero in one of several parts of a prompt is ordinary: not every request has an image.
    TraceLog ignored(path, TraceSpec::BadRow::kSkip);
    const bool whole_prompt = tables["input_tokens"].error() == simdjson::SUCCESS;
    for (const char* key : kPromptTables) {
      if (tables[key].error() == simdjson::SUCCESS)
        bucket.prompt.push_back(read_table(tables, key, path, time, whole_prompt ? log : ignored));
    }
    bucket.output = read_table(tables, "output_tokens", path, time, log);
    buckets.push_back(std::move(bucket));
  }
  std::stable_sort(buckets.begin(), buckets.end(),
                   [](const LengthBucket& a, const LengthBucket& b) { return a.begin_s < b.begin_s; });
  return buckets;
}

/// Reads the rows t, rate, cv, distribution, parameter 1 (shape), parameter 2 (scale).
class RateRows {
 public:
  RateRows(const std::string& path, TraceLog& log) : lines_(path), log_(log) {}

  std::vector<RateInterval> read() {
    std::vector<RateInterval> rows;
    while (lines_.next(line_)) {
      RateInterval row;
      if (line_.empty() || !parse(row)) continue;
      if (!rows.empty() && row.begin_s <= rows.back().begin_s) {
        bad(Oddity::kTimeBackwards, fields_[0], "not later than the row before");
        continue;
      }
      if (!rows.empty()) rows.back().end_s = row.begin_s;
      rows.push_back(row);
    }
    // The last interval is as long as the one before it.
    if (!rows.empty()) {
      const double length = rows.size() > 1 ? rows.back().begin_s - rows[rows.size() - 2].begin_s : kLoneInterval;
      rows.back().end_s = rows.back().begin_s + length;
    }
    return rows;
  }

 private:
  static constexpr double kLoneInterval = 600;

  bool bad(Oddity fault, std::string_view field, const std::string& message) {
    const int column = field.data() >= line_.data() && field.data() <= line_.data() + line_.size()
                           ? static_cast<int>(field.data() - line_.data()) + 1
                           : 1;
    log_.bad_row(fault, Place{lines_.number(), column, line_, {}, lines_.path()}, message);
    return false;
  }

  bool parse(RateInterval& row) {
    row.line = lines_.number();
    if (!split_csv(line_, fields_, scratch_) || fields_.size() != 6)
      return bad(Oddity::kMissingField, line_, "a row has 6 fields: t, rate, CV, distribution and two parameters");
    const auto begin = parse_real(fields_[0]), rate = parse_real(fields_[1]), shape = parse_real(fields_[4]);
    if (!begin) return bad(Oddity::kBadValue, fields_[0], fmt::format("{} is no time", quote(fields_[0])));
    if (!rate || *rate < 0) return bad(Oddity::kBadValue, fields_[1], fmt::format("{} is no rate", quote(fields_[1])));
    row.begin_s = *begin;
    row.rate_per_s = *rate;
    if (*rate == 0) {
      log_.remark(Oddity::kZeroRate, Place{row.line, 0, {}, {}, lines_.path()}, [] { return "rate 0"; });
      return true;
    }
    if (fields_[3] != "Gamma" && fields_[3] != "Weibull")
      return bad(Oddity::kBadValue, fields_[3],
                 fmt::format("{} is no known distribution{}", quote(fields_[3]),
                             suggestion(fields_[3], {"Gamma", "Weibull"})));
    row.gaps = fields_[3] == "Gamma" ? RateInterval::Gaps::kGamma : RateInterval::Gaps::kWeibull;
    if (!shape || *shape <= 0)
      return bad(Oddity::kBadValue, fields_[4], fmt::format("{} is no shape", quote(fields_[4])));
    row.shape = *shape;
    return true;
  }

  LineReader lines_;
  TraceLog& log_;
  std::string_view line_;
  std::vector<std::string_view> fields_;
  std::string scratch_;
};

/// The last bucket that begins at or before `at`; nothing when there is none.
const LengthBucket* bucket_at(const std::vector<LengthBucket>& buckets, double at) {
  const auto after = std::upper_bound(buckets.begin(), buckets.end(), at,
                                      [](double time, const LengthBucket& b) { return time < b.begin_s; });
  return after == buckets.begin() ? nullptr : &*(after - 1);
}

}  // namespace

bool LengthTable::holds_zero() const { return std::find(tokens_.begin(), tokens_.end(), 0) != tokens_.end(); }

bool LengthTable::parse(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  std::vector<double> weights;
  tokens_.clear();
  if (!take(at, end, '{')) return false;
  if (take(at, end, '}')) return at == end;
  double sum = 0;
  do {
    std::int64_t tokens = 0;
    double weight = 0;
    if (!take_number(at, end, tokens) || !take(at, end, ':') || !take_number(at, end, weight)) return false;
    if (tokens < 0 || !(weight >= 0 && weight <= 1e18)) return false;
    tokens_.push_back(tokens);
    weights.push_back(weight);
    sum += weight;
  } while (take(at, end, ','));
  if (!take(at, end, '}') || at != end || sum <= 0) return false;
  table_ = AliasTable(weights);
  return true;
}

bool LengthBucket::usable() const {
  const auto is_empty = [](const LengthTable& table) { return table.empty(); };
  return !prompt.empty() && std::none_of(prompt.begin(), prompt.end(), is_empty) && !output.empty();
}

ServeGenTables read_servegen_client(const ServeGenClient& client, TraceLog& log) {
  ServeGenTables tables;
  if (!client.tables.empty()) tables.buckets = read_buckets(client.tables, log);
  for (RateInterval interval : RateRows(client.rates, log).read()) {
    if (interval.rate_per_s == 0) continue;
    interval.lengths = bucket_at(tables.buckets, interval.begin_s);
    if (interval.lengths != nullptr && interval.lengths->usable()) {
      tables.intervals.push_back(interval);
      continue;
    }
    const std::string what = client.tables.empty()
                                 ? fmt::format("the client {} has a rate but no file of length tables", client.number)
                                 : "an interval with a rate but no length table";
    log.bad_row(Oddity::kMissingTable, Place{interval.line, 0, {}, {}, client.rates}, what);
  }
  return tables;
}

}  // namespace poolcast
