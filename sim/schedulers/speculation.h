// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/units.h"
#include "sim/request.h"

namespace poolcast {

/// Speculative decoding, by vLLM's own names where it has them (vllm/config/speculative.py).
struct SpeculationArgs {
  enum class Method { kNone, kNgram, kDraftModel, kEagle };

  Method method = Method::kNone;
  std::int64_t num_speculative_tokens = 0;  ///< drafts per request and step
  /// Chance that draft i is accepted when those before it are; one per draft.
  std::vector<double> synthetic_acceptance_rates;
  Seconds draft_time{0};  ///< of one pass of the drafting model; a step with drafts to make has one for each (own)

  bool on() const { return method != Method::kNone; }
  bool runs_model() const { return method == Method::kDraftModel || method == Method::kEagle; }
  /// Tokens for which blocks are kept beyond those of the step: a model that drafts writes its KV there.
  std::int64_t lookahead() const { return runs_model() ? num_speculative_tokens : 0; }
  /// Input slots that drafting takes beside the tokens of a request: a draft model reads the newest token as well.
  std::int64_t draft_slots() const { return method == Method::kDraftModel ? 1 : 0; }
  bool operator==(const SpeculationArgs&) const = default;
};

/// What speculation brought.
struct SpeculationStats {
  std::int64_t checks = 0;   ///< requests times steps in which drafts of theirs were checked
  std::int64_t drafted = 0;  ///< drafts that were checked
  std::int64_t accepted = 0;
};

/// Which drafts are accepted: independent draws, the same whenever and in whatever order they are made.
class Acceptance {
 public:
  Acceptance(const SpeculationArgs& args, std::uint64_t seed);

  /// Of `drafts` drafts that follow output number `outputs` of a request, how many are accepted in a row.
  std::int64_t accepted(const RequestRecord& request, std::int64_t outputs, std::int64_t drafts) const;

 private:
  std::vector<double> at_least_;  ///< chance that more than i are accepted
  std::uint64_t seed_;
};

/// The one chance of acceptance, the same for each of `drafts` drafts, with which `length` of them are accepted on
/// average; 0 <= length <= drafts.
double acceptance_for_length(double length, std::int64_t drafts);

}  // namespace poolcast
