// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/step_curve.h"
#include "scenarios/curve_file.h"

/// What was measured, as a calibration file holds it.
namespace poolcast::calibration {

/// The part of a step's time that a measurement belongs to, and the axes of its shapes.
enum class Term {
  kLinear,     ///< (tokens): linear layers, norms, rotary and all else that works on tokens
  kExperts,    ///< (tokens): routed experts
  kAllReduce,  ///< (tokens)
  kHead,       ///< (sampled): language head and sampler
  kPrefill,    ///< (query, context) of one chunk
  kDecode,     ///< (requests, context of each)
  kMixed       ///< (query, context, requests, context of each): attention of chunk and decodes as one kernel
};
inline constexpr std::array<Term, 7> kTerms = {Term::kLinear,  Term::kExperts, Term::kAllReduce, Term::kHead,
                                               Term::kPrefill, Term::kDecode,  Term::kMixed};
const char* name(Term term);
std::size_t axes(Term term);

using Shape = std::array<std::int64_t, 4>;  ///< unused axes are 0

/// One operation of a step: a weight matrix, a norm, attention. Its time enters a step `times` times.
struct Part {
  std::string name;  ///< "gemm n=4096 k=2048", "qkv_proj"
  Term term = Term::kLinear;
  double times = 1;
};

/// One shape of one part: all samples, or why there are none.
struct Point {
  std::size_t part = 0;
  Shape shape{};
  std::string problem;         ///< as the runner was asked ("gemm bf16 m=1 n=4096 k=2048"); empty: imported
  std::string implementation;  ///< that ran
  std::string kernel;          ///< its digest
  bool cold = false;
  bool held_out = false;  ///< judges the fit, and is no part of it
  bool noisy = false;
  double error = -1;    ///< against the reference, -1 = not checked
  std::string failure;  ///< why it could not be measured; such points have no samples
  std::vector<double> wall_s;
  std::vector<double> cpu_s;  ///< CPU time, maximum over the threads; empty where there is no such clock
};

/// One measured step of an engine or of the live executor.
struct StepRecord {
  Tokens tokens = 0;
  std::int64_t sampled = 0;
  std::int64_t decode_requests = 0;
  Tokens decode_context = 0;
  std::vector<PrefillChunk> prefill;
  double seconds = 0;
  bool held_out = false;
};

/// What a curve is asked of it; its chunks are those of the record.
StepShape shape_of(const StepRecord& step);
/// Of all terms of the curve, attention, of prompts and decodes together.
double attention_seconds(const StepCurve& curve, const StepShape& shape);

/// A calibration: what it is of, under which conditions, and what was measured.
struct Calibration {
  CurveFile head;                                 ///< identity, and curve and errors once they are fitted
  std::map<std::string, std::string> provenance;  ///< device, driver, runtime, compiler, flags, host, date, clock state
  std::vector<Part> parts;
  std::vector<Point> points;
  std::vector<StepRecord> steps;

  std::size_t measured() const;  ///< points with samples
};

/// What one run of a measured point takes, seconds, by the clock of the calibration (CurveIdentity::clock).
///
/// A step is a sum of hundreds of such times, and means add up where medians do not: where others use the memory too, a
/// decode takes 5 to 11 % more than the sum of medians. So by the CPU's clock, on which nobody is preempted, it is the
/// mean of the samples, those above three times the median counted as that; by the wall, on which anything may come
/// between, the median.
double seconds_of(const Point& point, const std::string& clock);

}  // namespace poolcast::calibration
