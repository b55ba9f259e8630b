// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/lint.h"

#include <fmt/format.h>

#include <unordered_set>

#include "scenarios/error.h"
#include "scenarios/traces/gap_meter.h"
#include "scenarios/traces/probe.h"
#include "scenarios/traces/rate_windows.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/servegen_client.h"
#include "scenarios/traces/trace_files.h"

namespace poolcast {
namespace {

void remark_gaps(const GapStats& gaps, double quantum_s, TraceLog& log) {
  constexpr double kSilence = 50;  // mean gaps: one of 10^21 gaps of a Poisson process
  if (gaps.zeros > 0) {
    log.remark(Oddity::kTies, Place{gaps.first_zero_line},
               [&] { return fmt::format("the first of them; timestamps are multiples of {:g} s", quantum_s); });
    log.more(Oddity::kTies, gaps.zeros - 1);
  }
  for (const TraceGap& gap : gaps.longest) {
    if (gap.length_s < kSilence * gaps.mean_s) break;
    log.remark(Oddity::kSilence, Place{gap.line},
               [&] { return fmt::format("{:.6g} s before this row, from {:.6g} s on", gap.length_s, gap.begin_s); });
  }
  if (gaps.tiny > 0) {
    log.remark(Oddity::kShortGap, Place{gaps.shortest.line},
               [&] { return fmt::format("the shortest: {:.3g} us", gaps.shortest.length_s * 1e6); });
    log.more(Oddity::kShortGap, gaps.tiny - 1);
  }
}

void remark_rates(const RateWindows& rates, const GapStats& gaps, TraceLog& log) {
  const double rate = gaps.mean_s > 0 ? 1 / gaps.mean_s : 0;
  if (rate > 0 && (rate < kLowestPlausibleRate || rate > kHighestPlausibleRate))
    log.remark(Oddity::kImplausibleRate, {}, [&] { return fmt::format("{:.3g} rows/s: is time_unit right?", rate); });
  constexpr std::uint64_t kEnough = 100;  // fewer rows have no shape to speak of
  const double head = rates.quiet_head_s();
  if (head > 0 && gaps.count >= kEnough)
    log.remark(Oddity::kQuietHead, {}, [&] {
      return fmt::format("below a fifth of the later rate until {:.6g} s; time_window: [{:.6g} s, none] leaves it out",
                         head, head);
    });
}

void lint_rows(const TraceSpec& spec, const std::shared_ptr<TraceLog>& log, LintReport& report) {
  const auto reader = open_resolved(spec, log);
  GapMeter gaps;
  RateWindows rates;
  std::unordered_set<std::uint64_t> sessions;  // never iterated
  TraceRow row;
  while (reader->next(row)) {
    ++report.rows;
    const bool begins = sessions.count(row.session) == 0;
    if (begins && row.after_session != UINT64_MAX && sessions.count(row.after_session) == 0)
      log->remark(Oddity::kUnknownCaller, Place{row.line},
                  [&] { return fmt::format("after_session {}", row.after_session); });
    if (row.session != UINT64_MAX) sessions.insert(row.session);
    gaps.add(row.timestamp, row.line);
    rates.add(row.timestamp.value);
  }
  remark_gaps(gaps.stats(), gaps.quantum_s(), *log);
  remark_rates(rates, gaps.stats(), *log);
}

std::uint64_t faults(const TraceLog& log) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Oddity::kLastFault); ++i)
    count += log.count(static_cast<Oddity>(i));
  return count;
}

/// ServeGen tables are checked as they are; nothing is drawn from them.
void lint_servegen(const TraceSpec& spec, TraceLog& log, LintReport& report) {
  for (const ServeGenClient& client : servegen_clients(spec.file))
    report.rows += read_servegen_client(client, log).intervals.size();
}

}  // namespace

LintReport lint_trace(const TraceSpec& spec) {
  LintReport report;
  const TraceSpec resolved = resolve_trace(spec, report.notes);
  report.format = resolved.format;
  const auto log = std::make_shared<TraceLog>(spec.file, spec.on_bad_row);
  log->collect();
  try {
    if (report.format == TraceFormat::kServeGen)
      lint_servegen(resolved, *log, report);
    else
      lint_rows(resolved, log, report);
  } catch (const ConfigError& error) {
    log->bad_row(Oddity::kUnreadable, {}, error.what());
  }
  if (report.rows == 0 && faults(*log) == 0) log->bad_row(Oddity::kNoRows, {}, "nothing is left to replay");
  for (std::size_t i = 0; i < kOddities; ++i) {
    const auto oddity = static_cast<Oddity>(i);
    if (log->count(oddity) == 0) continue;
    report.findings.push_back(LintFinding{oddity, log->count(oddity), log->examples(oddity)});
  }
  const bool may_skip = spec.on_bad_row == TraceSpec::BadRow::kSkip && log->count(Oddity::kUnreadable) == 0;
  report.usable = report.rows > 0 && (faults(*log) == 0 || may_skip);
  return report;
}

}  // namespace poolcast
