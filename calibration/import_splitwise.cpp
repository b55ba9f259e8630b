// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "calibration/csv_table.h"
#include "calibration/import.h"
#include "calibration/step_log.h"
#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

constexpr std::int64_t kMostRequests = 100'000;

/// "llama2-70b" and "llama-2-70b" are one model.
std::string letters_of(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (c != '-') kept.push_back(c);
  }
  return kept;
}

}  // namespace

/// A row is a batch of equal prompts and the tokens after them: one prefill step, and decode steps whose mean is that
/// of the middle one.
Calibration import_splitwise(const std::string& source, const CurveIdentity& identity) {
  Calibration c = imported(identity, source);
  CsvTable rows(source);
  const std::size_t model = rows.column("model"), prompt = rows.column("prompt_size"),
                    batch = rows.column("batch_size"), output = rows.column("token_size"),
                    prompt_ms = rows.column("prompt_time"), token_ms = rows.column("token_time"),
                    tp = rows.column("tensor_parallel"), hardware = rows.column("hardware");
  while (rows.next()) {
    if (letters_of(rows.text(model)) != letters_of(identity.shape.name)) continue;
    if (rows.integer(tp) != identity.layout.tp) continue;
    c.head.identity.device = rows.text(hardware);
    const std::int64_t n = rows.size(batch), p = rows.size(prompt);
    if (n > kMostRequests) rows.fail(fmt::format("a batch of more than {} requests", kMostRequests));
    StepRecord prefill{n * p, n, 0, 0, {}, rows.time(prompt_ms, 1e-3), false};
    prefill.prefill.assign(static_cast<std::size_t>(n), {p, 0});
    c.steps.push_back(std::move(prefill));
    c.steps.push_back({n, n, n, n * (p + rows.size(output) / 2), {}, rows.time(token_ms, 1e-3), false});
  }
  if (c.steps.empty())
    throw ConfigError(Location{source}, "",
                      fmt::format("has no rows of {} at tp={}", identity.shape.name, identity.layout.tp));
  c.head.identity.implementation = "vllm, by splitwise-sim";
  c.provenance["published"] = "Mutinifni/splitwise-sim@8f99e7d (MIT)";
  c.provenance["note"] = "whole steps: a regression";
  hold_out_steps(c.steps);
  return c;
}

}  // namespace poolcast::calibration
