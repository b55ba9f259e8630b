// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/records.h"

/// A made-up calibration whose times follow formulas, so that a fit can be checked.
namespace poolcast::testing {

inline TransformerShape small_shape() {
  TransformerShape s;
  s.name = "small";
  s.layers = 2;
  s.hidden = 64;
  s.heads = 4;
  s.kv_heads = 2;
  s.head_dim = 16;
  s.intermediate = 128;
  s.vocab = 1000;
  s.context_limit = 4096;
  return s;
}

inline double line_s(double x) { return (20 + 0.5 * x) * 1e-6; }
inline double prefill_s(double q, double c) { return (5 + 0.1 * q + 1e-3 * (q * c + q * (q + 1) / 2)) * 1e-6; }
inline double decode_s(double n, double k) { return (4 + 0.3 * n + 2e-3 * n * k) * 1e-6; }

inline void add(calibration::Calibration& c, std::size_t part, calibration::Shape shape, double seconds,
                bool held_out) {
  calibration::Point p;
  p.part = part;
  p.shape = shape;
  p.problem = "made up";
  p.implementation = "formula";
  p.kernel = "00";
  p.held_out = held_out;
  p.wall_s = {seconds * 2, seconds * 2.1, seconds * 1.9};
  p.cpu_s = {seconds, seconds * 1.01, seconds * 0.99};
  c.points.push_back(p);
}

inline calibration::Calibration small_calibration() {
  using calibration::Term;
  calibration::Calibration c;
  c.head.identity = {small_shape(),    {},     Precision::kBf16, Precision::kBf16,
                     "made-up device", "auto", "measured",       "cpu"};
  c.head.poolcast = "0.1.0";
  c.provenance = {{"host", "none"}, {"date", "never"}};
  c.parts = {{"gemm", Term::kLinear, 2},
             {"norm", Term::kLinear, 4},
             {"head", Term::kHead, 1},
             {"prefill", Term::kPrefill, 2},
             {"decode", Term::kDecode, 2}};
  for (const std::int64_t x : {1, 3, 8, 24, 64, 200, 512}) {
    const bool held = x == 3 || x == 24 || x == 200;
    for (const std::size_t part : {0U, 1U, 2U}) add(c, part, {x}, line_s(double(x)), held);
  }
  for (const std::int64_t q : {16, 48, 128, 512}) {
    for (const std::int64_t k : {0, 100, 1000}) add(c, 3, {q, k}, prefill_s(double(q), double(k)), q == 48);
  }
  for (const std::int64_t n : {1, 3, 8, 32}) {
    for (const std::int64_t k : {16, 100, 1000}) add(c, 4, {n, k}, decode_s(double(n), double(k)), n == 3);
  }
  return c;
}

}  // namespace poolcast::testing
