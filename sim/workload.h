// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/ids.h"
#include "sim/source.h"
#include "sim/time.h"

/// Load made from distributions: open arrivals, a closed loop of users, and sessions of several turns. Each source
/// draws from its own named streams ("arrivals/0", "prompt/0", …), so that one can change without moving the others.
namespace poolcast {

/// A distribution of token counts. Samples are rounded to the nearest integer and clamped to [min, max].
struct LengthSpec {
  enum class Kind { kFixed, kUniform, kExponential, kLognormal, kEmpirical };
  Kind kind = Kind::kFixed;
  double mean = 1;  ///< of the distribution before clamping
  double cv = 0;    ///< lognormal: standard deviation / mean
  std::int64_t min = 1;
  std::int64_t max = INT64_MAX;
  std::vector<std::pair<std::int64_t, double>> table;  ///< empirical: (tokens, weight)
};

/// A process of arrival instants.
struct ArrivalSpec {
  enum class Process { kPoisson, kGamma, kDeterministic, kOnOff, kPiecewise, kDiurnal };
  Process process = Process::kPoisson;
  double rate_per_s = 1;                           ///< mean rate (on-off: while on; diurnal: mean over the period)
  double cv = 1;                                   ///< gamma: coefficient of variation of the gaps
  Seconds on{0}, off{0};                           ///< on-off: mean lengths, exponentially distributed
  std::vector<std::pair<Seconds, double>> pieces;  ///< piecewise: (from, rate_per_s); the last rate goes on
  Seconds period{86400};                           ///< diurnal
  double amplitude = 0;  ///< diurnal: rate(t) = rate_per_s * (1 + amplitude * sin(2 pi t / period - pi / 2))
};

/// A time of think or of waiting.
struct ThinkSpec {
  enum class Kind { kFixed, kExponential, kLognormal };
  Kind kind = Kind::kFixed;
  Seconds mean{0};
  double cv = 0;  ///< lognormal
};

/// Prefixes that requests share, such as system prompts: each request, or session, begins with one of `groups`, drawn
/// with weight 1 / rank^skew, and of the length drawn for that group. They come on top of the prompt's own tokens.
struct SharedPrefixSpec {
  std::uint64_t groups = 0;  ///< 0: nothing is shared
  double skew = 0;           ///< 0: all alike; 1: Zipf
  LengthSpec tokens;
};

/// Open loop: arrivals never wait for completions.
struct SynthSpec {
  std::uint64_t requests = 0;  ///< stop after so many; 0 = no limit
  SimTime duration = kNever;   ///< stop at this instant
  ArrivalSpec arrivals;
  LengthSpec prompt_tokens;
  LengthSpec output_tokens;
  SharedPrefixSpec shared_prefix;
};

/// Closed loop: each of `users` sends, waits for the end of its request, thinks, and sends again.
struct ClosedLoopSpec {
  std::int64_t users = 1;
  std::uint64_t requests = 0;  ///< over all users; 0 = no limit
  SimTime duration = kNever;
  ThinkSpec think_time;
  SimTime ramp = 0;  ///< the first requests are spread evenly over this time
  LengthSpec prompt_tokens;
  LengthSpec output_tokens;
  SharedPrefixSpec shared_prefix;
};

/// Sessions: they start by `arrivals`; turn k + 1 comes `think_time` after the end of turn k, and its prompt is the
/// whole of turn k (prompt and output, which a prefix cache may hold) plus `turn_tokens` new ones.
struct SessionsSpec {
  std::uint64_t sessions = 0;  ///< 0 = no limit
  SimTime duration = kNever;
  ArrivalSpec arrivals;
  LengthSpec turns;
  LengthSpec first_prompt_tokens;
  LengthSpec turn_tokens;
  LengthSpec output_tokens;
  ThinkSpec think_time;
  SharedPrefixSpec shared_prefix;        ///< of a session, before its first prompt
  std::int64_t max_context = INT64_MAX;  ///< a session ends before the turn that would exceed it
};

/// `stream_name` makes the random streams of this source distinct ("workload/0").
std::unique_ptr<Source> make_source(const SynthSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                                    const std::string& stream_name);
std::unique_ptr<Source> make_source(const ClosedLoopSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                                    const std::string& stream_name);
std::unique_ptr<Source> make_source(const SessionsSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                                    const std::string& stream_name);

}  // namespace poolcast
