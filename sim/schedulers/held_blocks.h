// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedulers/cached_runs.h"

namespace poolcast {

/// The KV blocks of one request: first those that are kept when it leaves, in runs, then those that are not.
struct HeldBlocks {
  static constexpr Tokens kEndless = Tokens{1} << 60;

  /// Blocks up to the next part, or up to `cached`. A run that was cut meanwhile goes on upwards with
  /// `CachedRuns::above`.
  struct Part {
    CachedRuns::Run run;
    std::int64_t begin;
  };

  std::vector<Segment> tokens;  ///< what the request is and will be; the last segment has no end
  std::int64_t known = 0;       ///< tokens from the start that another request may hold too
  std::vector<Part> parts;
  std::int64_t cached = 0;  ///< blocks in `parts`
  std::int64_t open = 0;    ///< blocks behind them
  TokenCursor at;           ///< behind the cached blocks, in `tokens`

  std::int64_t count() const { return cached + open; }
  /// Starts anew for a request. `own` names the tokens that `content` leaves out; it differs between requests.
  void start(const Content& content, std::int64_t prompt_tokens, std::uint64_t own);
  /// The blocks were taken back; the request may come again.
  void leave() {
    parts.clear();
    cached = open = 0;
    at = from_start(kEndless);
  }
  /// A place at the start of the sequence, of which `count` tokens are left.
  TokenCursor from_start(Tokens count) const {
    TokenCursor at_start(tokens.data(), count);
    at_start.settle();
    return at_start;
  }
};

}  // namespace poolcast
