// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibration/least_squares.h"
#include "models/kernel_tables.h"

namespace poolcast::calibration {
namespace {

double d(std::int64_t x) { return static_cast<double>(x); }

double pairs(double query, double context) { return query * context + query * (query + 1) / 2; }

struct Range {
  Tokens tokens = 1, chunk = 1, context = 0, end = 1, decode_context = 1, kv = 1;
  std::int64_t requests = 1, sampled = 1;

  void include(const StepRecord& s) {
    tokens = std::max(tokens, s.tokens);
    sampled = std::max(sampled, s.sampled);
    requests = std::max(requests, s.decode_requests);
    decode_context = std::max(decode_context, s.decode_context);
    if (s.decode_requests > 0) kv = std::max(kv, (s.decode_context + s.decode_requests - 1) / s.decode_requests);
    for (const PrefillChunk& c : s.prefill) {
      chunk = std::max(chunk, c.query);
      context = std::max(context, c.context);
      end = std::max(end, c.query + c.context);
    }
  }
};

/// Points so dense that straight lines between them are within 1 % of a parabola.
std::vector<std::int64_t> dense_axis(std::int64_t most) {
  std::vector<std::int64_t> axis = {1, 2};
  while (axis.back() < most) axis.push_back(std::max(axis.back() + 1, axis.back() * 5 / 4));
  return axis;
}

/// The regression as tables: all but prefill attention is linear, so two points an axis hold it exactly.
KernelTables tables_of(const std::vector<double>& c, const Range& r, std::int64_t layers) {
  KernelTables t;
  t.layers = layers;
  const double n = d(layers);
  t.host = Seconds(c[0]);
  t.layer = {{0, r.tokens}, {0, c[1] * d(r.tokens) / n}};
  t.per_sequence = {{1, 2}, {0, 0}};
  AttentionTable& a = t.attention;
  a.chunk = dense_axis(2 * r.chunk);
  a.context = {0, std::max<Tokens>(1, r.context)};
  a.requests = {0, r.requests};
  a.kv = {0, r.kv};
  for (const std::int64_t q : a.chunk) {
    for (const std::int64_t k : a.context) a.prefill.push_back(c[4] * pairs(d(q), d(k)) / n);
  }
  for (const std::int64_t b : a.requests) {
    for (const std::int64_t k : a.kv) a.decode.push_back((c[2] * d(b) + c[3] * d(b) * d(k)) / n);
  }
  t.range = {r.tokens, r.sampled, r.chunk, r.context, r.end, r.requests, r.kv, r.decode_context};
  return t;
}

}  // namespace

void fit_host_and_mixed(const std::vector<StepRecord>& steps, KernelTables& tables) {
  const auto curve = make_kernel_table_curve(tables);
  std::vector<std::vector<double>> rows;
  std::vector<double> measured, known;
  for (const StepRecord& s : steps) {
    if (s.held_out || !(s.seconds > 0)) continue;
    const StepShape shape = shape_of(s);
    const double requests = d(s.decode_requests) + static_cast<double>(s.prefill.size());
    const bool mixed = s.decode_requests > 0 && !s.prefill.empty() && tables.attention.mixed.empty();
    double prefill = 0, decode = 0;
    if (mixed) {
      prefill = attention_seconds(*curve, {s.tokens - s.decode_requests, 0, 0, 0, s.prefill});
      decode =
          attention_seconds(*curve, {s.decode_requests, s.decode_requests, s.decode_requests, s.decode_context, {}});
    }
    rows.push_back({1, requests, prefill, decode, d(s.tokens)});
    measured.push_back(s.seconds);
    known.push_back(curve->step(shape).value);
  }
  if (rows.size() < kLeastSteps) return;
  const std::vector<double> c = fit_nonnegative(rows, measured, known);
  tables.host = Seconds(c[0]);
  tables.host_per_request = Seconds(c[1]);
  tables.attention.mixed_prefill_share = c[2];
  tables.attention.mixed_decode_share = c[3];
  if (c[4] > 0 && tables.once.at.empty()) {
    const Tokens most = std::max<Tokens>(1, tables.layer.at.back());
    tables.once = {{0, most}, {0, c[4] * d(most)}};
  }
}

CurveOrReason curve_of_steps(const Calibration& calibration) {
  std::vector<std::vector<double>> rows;
  std::vector<double> measured;
  Range range;
  for (const StepRecord& s : calibration.steps) {
    if (s.held_out || !(s.seconds > 0)) continue;
    double seen = 0;
    for (const PrefillChunk& c : s.prefill) seen += pairs(d(c.query), d(c.context));
    rows.push_back({1, d(s.tokens), d(s.decode_requests), d(s.decode_context), seen});
    measured.push_back(s.seconds);
    range.include(s);
  }
  if (rows.size() < kLeastSteps) return {std::nullopt, fmt::format("{} steps are too few to fit a curve", rows.size())};
  KernelTables t = tables_of(fit_nonnegative(rows, measured), range,
                             std::max<std::int64_t>(1, calibration.head.identity.shape.layers));
  t.source = fmt::format("regression on {} steps", rows.size());
  return {std::move(t), ""};
}

}  // namespace poolcast::calibration
