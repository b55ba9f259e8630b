// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "scenarios/include.h"
#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

constexpr double kLargestCv = 100;
constexpr double kHighestRate = 1e9;  // requests a second: one every nanosecond

/// A coefficient of variation: above 0.
double read_cv(const YamlNode& node) {
  const double cv = node.number(0, kLargestCv);
  if (!(cv > 0)) node.fail("must be above 0, got " + quote(node.text()));
  return cv;
}

double read_mean_tokens(const YamlNode& node) {
  const double mean = node.number(0, static_cast<double>(kMostTokens));
  if (!(mean > 0)) node.fail("must be above 0, got " + quote(node.text()));
  return mean;
}

double read_weight(const YamlNode& node) { return node.number(0, 1e15); }

using Table = std::vector<std::pair<std::int64_t, double>>;

/// Lines of `tokens` or `tokens,weight`, `#` comments and one header line. Equal counts are added up.
Table read_table_file(const YamlNode& node, const std::string& path) {
  const std::string text = read_text_file(path);
  std::map<std::int64_t, double> weights;
  int line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string row = text.substr(begin, end - begin);
    begin = end + 1;
    ++line;
    while (!row.empty() && (row.back() == '\r' || row.back() == ' ')) row.pop_back();
    const bool is_header = line == 1 && !row.empty() && (row[0] < '0' || row[0] > '9');
    if (row.empty() || row[0] == '#' || is_header) continue;
    std::int64_t tokens = 0;
    double weight = 1;
    const char* const last = row.data() + row.size();
    auto [next, fault] = std::from_chars(row.data(), last, tokens);
    bool good = fault == std::errc() && tokens >= 0 && tokens <= kMostTokens;
    if (good && next != last) {
      const auto parsed = *next == ',' ? std::from_chars(next + 1, last, weight) : std::from_chars_result{next, {}};
      good = parsed.ec == std::errc() && parsed.ptr == last && weight >= 0 && weight <= 1e15;
    }
    if (!good) throw ConfigError({path, line}, "", "expected tokens or tokens,weight, got " + quote(row));
    weights[tokens] += weight;
  }
  if (weights.empty()) node.fail("the file has no rows");
  return {weights.begin(), weights.end()};
}

Table read_table(const YamlNode& node) {
  Table table;
  for (const YamlNode& row : node.items()) {
    const auto items = row.items();
    if (items.size() != 2) row.fail(fmt::format("expected [tokens, weight], got {} values", items.size()));
    table.emplace_back(items[0].integer(0, kMostTokens), read_weight(items[1]));
  }
  if (table.empty()) node.fail("needs at least one row");
  return table;
}

void load_empirical(MappingReader& reader, const LoadContext& context, LengthSpec& length) {
  const auto [which, node] = reader.one_of({"table", "file"});
  if (which == 0) {
    length.table = read_table(node);
  } else {
    const std::string beside = folder_of(node, context.folder) + node.text();
    const bool is_absolute = !node.text().empty() && node.text()[0] == '/';
    length.table = read_table_file(node, !is_absolute && std::filesystem::exists(beside) ? beside : node.text());
  }
  double sum = 0, mean = 0;
  for (const auto& [tokens, weight] : length.table) sum += weight, mean += weight * static_cast<double>(tokens);
  if (!(sum > 0)) node.fail("every weight is zero");
  length.mean = mean / sum;
}

ThinkSpec::Kind think_kind(const YamlNode& node) {
  return static_cast<ThinkSpec::Kind>(node.choice({"fixed", "exponential", "lognormal"}));
}

/// Ascending times, and a rate somewhere.
void load_pieces(const YamlNode& node, ArrivalSpec& arrivals) {
  double highest = 0;
  for (const YamlNode& piece : node.items()) {
    const auto [from, rate_node] = load_pair(piece);
    const Seconds begin = read_seconds(from);
    if (!arrivals.pieces.empty() && !(begin > arrivals.pieces.back().first)) {
      from.fail("must be later than the piece before it");
    }
    const double rate = read_rate_per_s(rate_node);
    if (rate > kHighestRate) rate_node.fail("must be at most 1e9/s, got " + quote(rate_node.text()));
    highest = std::max(highest, rate);
    arrivals.pieces.emplace_back(begin, rate);
  }
  if (!(highest > 0)) node.fail("every rate is zero: nothing would arrive");
}

double load_rate(MappingReader& reader) {
  const YamlNode node = reader.required("rate");
  const double rate = read_rate_per_s(node);
  if (!(rate > 0)) node.fail("must be above 0/s, got " + quote(node.text()));
  if (rate > kHighestRate) node.fail("must be at most 1e9/s, got " + quote(node.text()));
  return rate;
}

Seconds read_length_of_time(const YamlNode& node) {
  const Seconds time = read_seconds(node);
  if (!(time > Seconds(0))) node.fail("must be above 0 s, got " + quote(node.text()));
  return time;
}

}  // namespace

LengthSpec load_length(const YamlNode& node, const LoadContext& context) {
  LengthSpec length;
  if (node.is_scalar()) {
    length.mean = static_cast<double>(node.integer(1, kMostTokens));
    return length;
  }
  MappingReader reader(node);
  const YamlNode distribution = reader.required("distribution");
  length.kind =
      static_cast<LengthSpec::Kind>(distribution.choice({"fixed", "uniform", "exponential", "lognormal", "empirical"}));
  using Kind = LengthSpec::Kind;
  if (const auto min = reader.optional("min")) length.min = min->integer(0, kMostTokens);
  if (const auto max = reader.optional("max"); max && !max->is_word("none")) length.max = max->integer(1, kMostTokens);
  if (length.kind == Kind::kUniform) {
    if (length.max == INT64_MAX) node.fail("a uniform distribution needs its \"max\"");
    length.mean = (static_cast<double>(length.min) + static_cast<double>(length.max)) / 2;
  } else if (length.kind == Kind::kEmpirical) {
    load_empirical(reader, context, length);
  } else {
    length.mean = read_mean_tokens(reader.required("mean"));
  }
  if (length.kind == Kind::kLognormal) length.cv = read_cv(reader.required("cv"));
  reader.finish();
  if (length.min > length.max) {
    node.fail(fmt::format("min {} is above max {}", length.min, length.max));
  }
  return length;
}

ArrivalSpec load_arrivals(const YamlNode& node) {
  using Process = ArrivalSpec::Process;
  ArrivalSpec arrivals;
  MappingReader reader(node);
  if (const auto process = reader.optional("process")) {
    arrivals.process =
        static_cast<Process>(process->choice({"poisson", "gamma", "deterministic", "on-off", "piecewise", "diurnal"}));
  }
  if (arrivals.process == Process::kPiecewise) {
    load_pieces(reader.required("pieces"), arrivals);
  } else {
    arrivals.rate_per_s = load_rate(reader);
  }
  if (arrivals.process == Process::kGamma) arrivals.cv = read_cv(reader.required("cv"));
  if (arrivals.process == Process::kOnOff) {
    arrivals.on = read_length_of_time(reader.required("on"));
    arrivals.off = read_seconds(reader.required("off"));
  }
  if (arrivals.process == Process::kDiurnal) {
    if (const auto period = reader.optional("period")) arrivals.period = read_length_of_time(*period);
    arrivals.amplitude = read_share(reader.required("amplitude"));
  }
  reader.finish();
  return arrivals;
}

ThinkSpec load_think_time(const YamlNode& node) {
  ThinkSpec think;
  if (node.is_scalar()) {
    think.mean = read_seconds(node);
    return think;
  }
  MappingReader reader(node);
  think.kind = think_kind(reader.required("distribution"));
  think.mean = read_seconds(reader.required("mean"));
  if (think.kind == ThinkSpec::Kind::kLognormal) think.cv = read_cv(reader.required("cv"));
  reader.finish();
  return think;
}

}  // namespace poolcast
