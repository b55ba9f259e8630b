// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/traces/trace_files.h"
#include "scenarios/traces/trace_log.h"
#include "sim/alias_table.h"
#include "sim/random.h"

namespace poolcast {

/// A table of token counts and their probabilities, as ServeGen writes it: "{9: 0.25, 163: 0.75}".
class LengthTable {
 public:
  bool empty() const { return tokens_.empty(); }
  bool holds_zero() const;
  std::int64_t draw(RandomStream& random) const { return tokens_[table_.draw(random)]; }
  /// Nothing but false when the text is no such table.
  bool parse(std::string_view text);

 private:
  std::vector<std::int64_t> tokens_;
  AliasTable table_;
};

/// The lengths that a client's requests have from `begin_s` on. A prompt is the sum of one draw from each of its
/// tables: input_tokens, or text, image, audio and video tokens.
struct LengthBucket {
  double begin_s = 0;
  std::vector<LengthTable> prompt;
  LengthTable output;

  bool usable() const;
};

/// A stretch of time in which a client sends at one rate.
struct RateInterval {
  double begin_s = 0, end_s = 0;
  double rate_per_s = 0;
  enum class Gaps { kGamma, kWeibull } gaps = Gaps::kGamma;
  double shape = 1;
  const LengthBucket* lengths = nullptr;
  std::uint64_t line = 0;
};

/// What the two files of a client say.
struct ServeGenTables {
  std::vector<LengthBucket> buckets;    ///< by time
  std::vector<RateInterval> intervals;  ///< those with a rate that can be used, by time; they point into `buckets`
};

/// Reads both files of a client. Throws FileError and ConfigError when they are not what they should be; rows that
/// cannot be used go to `log`.
ServeGenTables read_servegen_client(const ServeGenClient& client, TraceLog& log);

}  // namespace poolcast
