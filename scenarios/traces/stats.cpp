// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/stats.h"

#include <map>
#include <unordered_set>

#include "scenarios/traces/gap_meter.h"
#include "scenarios/traces/prefix_hits.h"
#include "scenarios/traces/probe.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/selection.h"

namespace poolcast {

TraceStats measure_trace(const TraceSpec& spec) {
  TraceStats stats;
  TraceSpec wanted = resolve_trace(spec, stats.notes);
  wanted.replay = TraceSpec::Replay::kSessions;  // so that readers join the turns of a session
  stats.format = wanted.format;
  Selection rows(wanted, open_resolved(wanted, std::make_shared<TraceLog>(spec.file, spec.on_bad_row)));
  GapMeter gaps;
  PrefixHits prefixes;
  std::map<std::string, std::uint64_t> models;
  std::unordered_set<std::uint64_t> sessions;  // only counted
  TraceRow row;
  while (rows.next(row)) {
    ++stats.rows;
    gaps.add(row.timestamp, row.line);
    stats.rates.add(row.timestamp.value);
    stats.prompt.add(row.prompt_tokens);
    stats.output.add(row.output_tokens);
    prefixes.add(row.hash_ids);
    if (!row.model.empty()) ++models[row.model];
    if (row.session == UINT64_MAX) continue;
    ++stats.rows_with_session;
    sessions.insert(row.session);
  }
  stats.stopped_at_limit = spec.limit > 0 && stats.rows == spec.limit;
  stats.span_s = gaps.last_s();
  stats.gaps = gaps.stats();
  stats.quantum_s = gaps.quantum_s();
  stats.sessions = sessions.size();
  stats.models.assign(models.begin(), models.end());
  stats.block_tokens = rows.reader().block_tokens();
  stats.blocks = prefixes.blocks();
  stats.prefix_hits = prefixes.hits();
  stats.skipped_rows = rows.reader().skipped_rows();
  return stats;
}

}  // namespace poolcast
