// SPDX-License-Identifier: Apache-2.0
// An entry of the catalog: one artifact of a model on one pool.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

constexpr std::array<ImplementationStatus, 5> kStatuses = {
    ImplementationStatus::kExperimental, ImplementationStatus::kBatchOnly, ImplementationStatus::kCanary,
    ImplementationStatus::kProduction, ImplementationStatus::kRetired};

Precision load_precision(const YamlNode& node) {
  std::vector<std::string_view> names;
  for (Precision precision : kPrecisions) names.emplace_back(name(precision));
  return kPrecisions[node.choice(names)];
}

int days_in(int year, int month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/// `2026-08-31`, so that text order is order in time.
std::string load_date(const YamlNode& node) {
  const std::string& text = node.text();
  const auto number = [&](std::size_t from, std::size_t digits) {
    int value = 0;
    for (std::size_t i = from; i < from + digits; ++i) {
      if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
      value = 10 * value + (text[i] - '0');
    }
    return value;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const bool shaped = text.size() == 10 && text[4] == '-' && text[7] == '-' && year >= 0;
  if (!shaped || month < 1 || month > 12 || day < 1 || day > days_in(year, month)) {
    node.fail("expected a date such as 2026-08-31, got " + quote(text));
  }
  return text;
}

std::string load_digest(const YamlNode& node) {
  const std::string& text = node.text();
  constexpr std::string_view kHead = "sha256:";
  const std::string_view hex = std::string_view(text).substr(std::min(text.size(), kHead.size()));
  const bool is_hex =
      std::all_of(hex.begin(), hex.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (text.compare(0, kHead.size(), kHead) != 0 || hex.size() != 64 || !is_hex) {
    node.fail("expected sha256: and 64 hexadecimal digits, got " + quote(text));
  }
  return text;
}

Artifact load_artifact(const YamlNode& node) {
  Artifact artifact;
  if (node.is_scalar()) {
    artifact.name = node.text();
    return artifact;
  }
  MappingReader reader(node);
  artifact.name = reader.required("name").text();
  if (const auto digest = reader.optional("digest")) artifact.digest = load_digest(*digest);
  if (const auto precision = reader.optional("precision")) artifact.precision = load_precision(*precision);
  if (const auto layout = reader.optional("layout")) artifact.layout = load_layout(*layout);
  if (const auto sbom = reader.optional("sbom")) artifact.sbom = sbom->text();
  reader.finish();
  return artifact;
}

std::vector<std::int64_t> load_lengths(const YamlNode& node) {
  std::vector<std::int64_t> lengths;
  for (const YamlNode& length : node.one_or_more()) lengths.push_back(length.integer(1, kMostTokens));
  if (lengths.empty()) node.fail("needs at least one length");
  return lengths;
}

/// A mapping stands for every pair of its lengths, a list for its entries.
std::vector<CompiledShape> load_shapes(const YamlNode& node) {
  std::vector<CompiledShape> shapes;
  for (const YamlNode& entry : node.one_or_more()) {
    MappingReader reader(entry);
    std::vector<std::int64_t> inputs = {INT64_MAX}, contexts = {INT64_MAX};
    const auto input = reader.optional("input"), context = reader.optional("context");
    if (input) inputs = load_lengths(*input);
    if (context) contexts = load_lengths(*context);
    reader.finish();
    if (!input && !context) entry.fail("needs input or context: the compiled lengths");
    for (const std::int64_t i : inputs) {
      for (const std::int64_t c : contexts) shapes.push_back({i, c});
    }
  }
  if (shapes.empty()) node.fail("needs at least one shape");
  return shapes;
}

EvaluationResult load_result(const YamlNode& node) {
  EvaluationResult result;
  MappingReader parts(node);
  if (const auto suite = parts.optional("suite")) result.suite = suite->text();
  if (const auto score = parts.optional("score")) result.score = score->number(0, 1);
  if (const auto samples = parts.optional("samples")) result.samples = samples->integer(1);
  if (const auto threshold = parts.optional("threshold")) result.threshold = threshold->number(0, 1);
  if (const auto date = parts.optional("date")) result.date = load_date(*date);
  parts.finish();
  return result;
}

std::vector<HistoryEntry> load_history(const YamlNode& node) {
  std::vector<HistoryEntry> history;
  for (const YamlNode& entry : node.one_or_more()) {
    MappingReader reader(entry);
    const YamlNode date = reader.required("date");
    history.push_back({load_date(date), reader.required("event").text()});
    reader.finish();
    if (history.size() > 1 && history.back().date < history[history.size() - 2].date) {
      date.fail("stands before the entry above it: a history goes forward");
    }
  }
  return history;
}

std::vector<std::pair<std::string, std::string>> load_software(const YamlNode& node) {
  std::vector<std::pair<std::string, std::string>> software;
  for (const auto& [name, version] : node.entries()) software.emplace_back(name, version.text());
  return software;
}

void load_evidence(MappingReader& reader, ImplementationEntry& entry) {
  if (const auto results = reader.optional("evaluation")) {
    for (const YamlNode& result : results->one_or_more()) entry.evaluations.push_back(load_result(result));
  }
  if (const auto calibration = reader.optional("calibration")) entry.calibration = calibration->text();
  if (const auto software = reader.optional("software")) entry.software = load_software(*software);
  if (const auto history = reader.optional("history")) entry.history = load_history(*history);
}

}  // namespace

ImplementationEntry load_implementation(const YamlNode& node) {
  ImplementationEntry entry;
  entry.at = node;
  MappingReader reader(node);
  entry.pool = reader.required("pool").text();
  if (const auto artifact = reader.optional("artifact")) entry.artifact = load_artifact(*artifact);
  if (const auto status = reader.optional("status")) {
    std::vector<std::string_view> names;
    for (ImplementationStatus known : kStatuses) names.emplace_back(name(known));
    entry.status = kStatuses[status->choice(names)];
  }
  if (entry.artifact.precision) entry.precision = *entry.artifact.precision;
  if (const auto precision = reader.optional("precision")) {
    entry.precision = load_precision(*precision);
    if (entry.artifact.precision.value_or(entry.precision) != entry.precision) {
      precision->fail(fmt::format("contradicts the precision {} of the artifact", name(*entry.artifact.precision)));
    }
  }
  if (const auto kv = reader.optional("kv_precision")) entry.kv_precision = load_precision(*kv);
  if (const auto limits = reader.optional("limits")) load_length_limits(*limits, entry.limits);
  if (const auto shapes = reader.optional("shapes")) entry.shapes = load_shapes(*shapes);
  if (const auto streaming = reader.optional("streaming")) entry.streaming = streaming->boolean();
  if (const auto cancellation = reader.optional("cancellation")) entry.cancellation = cancellation->boolean();
  load_evidence(reader, entry);
  reader.finish();
  return entry;
}

}  // namespace poolcast
