// SPDX-License-Identifier: Apache-2.0
#include "tools/trace_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "scenarios/human.h"
#include "scenarios/json_text.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWindows = 12;

/// A span of a trace, which may be shorter than the words for hours and days.
std::string span(double seconds) {
  return seconds < 60 ? human_seconds(seconds) : fmt::format("{} ({:.1f} s)", human_span(seconds), seconds);
}

/// A time from nanoseconds up; traces have gaps that people's units do not reach.
std::string short_time(double seconds) {
  if (seconds < 5e-10) return "0 s";
  return seconds < 1e-3 ? fmt::format("{:.3g} us", seconds * 1e6) : human_seconds(seconds);
}

std::string rate(double per_s) { return human_number(per_s) + "/s"; }

std::string heading(const std::string& file, TraceFormat format, const std::vector<std::string>& notes) {
  std::string text = fmt::format("{}: {} trace\n", file, name(format));
  for (const std::string& note : notes) text += wrapped("  ", note);
  return text;
}

std::string line(const char* what, const std::string& value) { return fmt::format("{:<14}{}\n", what, value); }

std::string gaps_text(const TraceStats& stats) {
  const GapStats& gaps = stats.gaps;
  if (gaps.count == 0) return {};
  std::string text = line("gaps", fmt::format("mean {}, cv {}, shortest {}, {} rows at the time of the row before",
                                              human_seconds(gaps.mean_s), human_number(gaps.cv),
                                              short_time(gaps.shortest.length_s), human_count(gaps.zeros)));
  if (!gaps.longest.empty()) {
    const TraceGap& longest = gaps.longest.front();
    text += line("longest gap", fmt::format("{} from {:.1f} s on, before line {}", human_seconds(longest.length_s),
                                            longest.begin_s, longest.line));
  }
  if (stats.quantum_s > 0) text += line("timestamps", fmt::format("multiples of {}", short_time(stats.quantum_s)));
  return text;
}

std::string lengths_text(const TraceStats& stats) {
  TextTable table({"tokens", "mean", "p50", "p90", "p99", "max"});
  const auto row = [&](const char* what, const LengthCounts& lengths) {
    std::vector<std::string> cells = {what, fmt::format("{:.1f}", lengths.mean())};
    for (const double q : {0.5, 0.9, 0.99})
      cells.push_back(human_count(static_cast<std::uint64_t>(lengths.quantile(q))));
    cells.push_back(human_count(static_cast<std::uint64_t>(lengths.max())));
    table.row(cells);
  };
  row("prompt", stats.prompt);
  row("output", stats.output);
  return table.text();
}

std::string windows_text(const TraceStats& stats) {
  constexpr double kWidest = 40;
  const auto windows = stats.rates.windows(kWindows);
  double highest = 0;
  for (const RateWindow& window : windows) highest = std::max(highest, window.rate_per_s());
  if (highest <= 0) return {};
  std::string text = "rate by window\n";
  for (const RateWindow& window : windows) {
    const auto width = static_cast<int>(std::lround(window.rate_per_s() / highest * kWidest));
    text += fmt::format("  {:>12.1f} s {:>10}  {}\n", window.begin_s, rate(window.rate_per_s()),
                        std::string(static_cast<std::size_t>(width), '#'));
  }
  return text;
}

std::string prefix_text(const TraceStats& stats) {
  if (stats.block_tokens == 0) return "none: this trace says nothing about shared prompts";
  const double share =
      stats.blocks == 0 ? 0 : static_cast<double>(stats.prefix_hits) / static_cast<double>(stats.blocks);
  return fmt::format("{} blocks of {} tokens, ideal hit rate {:.1f} %", human_count(stats.blocks), stats.block_tokens,
                     share * 100);
}

Json lengths_json(const LengthCounts& lengths) {
  return Json{{"mean", lengths.mean()},
              {"min", lengths.min()},
              {"p50", lengths.quantile(0.5)},
              {"p90", lengths.quantile(0.9)},
              {"p99", lengths.quantile(0.99)},
              {"max", lengths.max()},
              {"total", static_cast<std::uint64_t>(lengths.total())}};
}

Json windows_json(const TraceStats& stats) {
  Json list = Json::array();
  for (const RateWindow& window : stats.rates.windows(kWindows))
    list.push_back(Json{{"begin_s", window.begin_s},
                        {"end_s", window.end_s},
                        {"rows", window.rows},
                        {"rate_per_s", window.rate_per_s()}});
  return list;
}

Json gaps_json(const GapStats& gaps) {
  Json json{{"count", gaps.count},
            {"mean_s", gaps.mean_s},
            {"cv", gaps.cv},
            {"ties", gaps.zeros},
            {"shortest_s", gaps.shortest.length_s}};
  if (!gaps.longest.empty()) {
    const TraceGap& longest = gaps.longest.front();
    json["longest"] = Json{{"length_s", longest.length_s}, {"begin_s", longest.begin_s}, {"line", longest.line}};
  }
  return json;
}

const char* weight(Oddity oddity) { return is_fault(oddity) ? "fault" : "remark"; }

}  // namespace

std::string stats_text(const std::string& file, const TraceStats& stats) {
  std::string text = heading(file, stats.format, stats.notes);
  text += line("rows", human_count(stats.rows) + (stats.stopped_at_limit ? " (stopped at the limit)" : ""));
  if (stats.skipped_rows > 0)
    text += line("bad rows", human_count(stats.skipped_rows) + " skipped; `poolcast trace lint` lists them");
  if (stats.rows == 0) return text;
  text += line("span", span(stats.span_s));
  if (stats.span_s > 0) text += line("mean rate", rate(stats.mean_rate_per_s()));
  text += gaps_text(stats);
  if (stats.rows_with_session > 0)
    text += line("sessions",
                 fmt::format("{} in {} rows", human_count(stats.sessions), human_count(stats.rows_with_session)));
  for (const auto& [model, rows] : stats.models)
    text += line("model", fmt::format("{}: {} rows", model, human_count(rows)));
  text += line("prefix data", prefix_text(stats));
  return text + lengths_text(stats) + windows_text(stats);
}

std::string stats_json(const std::string& file, const TraceStats& stats) {
  Json json{{"file", file},
            {"format", name(stats.format)},
            {"notes", stats.notes},
            {"rows", stats.rows},
            {"skipped_rows", stats.skipped_rows},
            {"stopped_at_limit", stats.stopped_at_limit},
            {"span_s", stats.span_s},
            {"mean_rate_per_s", stats.mean_rate_per_s()},
            {"gaps", gaps_json(stats.gaps)},
            {"quantum_s", stats.quantum_s},
            {"prompt_tokens", lengths_json(stats.prompt)},
            {"output_tokens", lengths_json(stats.output)},
            {"sessions", stats.sessions}};
  Json models = Json::object();
  for (const auto& [model, rows] : stats.models) models[model] = rows;
  json["models"] = models;
  json["prefix"] = nullptr;
  if (stats.block_tokens > 0) {
    const double blocks = static_cast<double>(stats.blocks);
    json["prefix"] = Json{{"block_tokens", stats.block_tokens},
                          {"blocks", stats.blocks},
                          {"hits", stats.prefix_hits},
                          {"ideal_hit_rate", blocks > 0 ? static_cast<double>(stats.prefix_hits) / blocks : 0}};
  }
  json["windows"] = windows_json(stats);
  return json_text(json);
}

std::string lint_text(const std::string& file, const LintReport& report) {
  std::string text = heading(file, report.format, report.notes);
  const char* unit = report.format == TraceFormat::kServeGen ? "usable intervals" : "usable rows";
  text += fmt::format("  {} {}\n", human_count(report.rows), unit);
  for (const LintFinding& finding : report.findings) {
    text += fmt::format("{:<7} {:<19} {:>9}  {}\n", weight(finding.oddity), key(finding.oddity),
                        human_count(finding.count), sentence(finding.oddity));
    for (const TraceLog::Example& example : finding.examples) {
      const std::string where = example.where.empty() ? "" : "at " + example.where + ": ";
      text += fmt::format("        {}{}\n", where, example.message);
    }
  }
  if (!report.usable) return text + "not usable as it is\n";
  return text + (report.findings.empty() ? "nothing odd\n" : "usable\n");
}

std::string lint_json(const std::string& file, const LintReport& report) {
  Json findings = Json::array();
  for (const LintFinding& finding : report.findings) {
    Json examples = Json::array();
    for (const auto& example : finding.examples)
      examples.push_back(Json{{"where", example.where}, {"message", example.message}});
    findings.push_back(Json{{"key", key(finding.oddity)},
                            {"weight", weight(finding.oddity)},
                            {"count", finding.count},
                            {"sentence", sentence(finding.oddity)},
                            {"examples", examples}});
  }
  return json_text(Json{{"file", file},
                        {"format", name(report.format)},
                        {"notes", report.notes},
                        {"rows", report.rows},
                        {"usable", report.usable},
                        {"findings", findings}});
}

}  // namespace poolcast
