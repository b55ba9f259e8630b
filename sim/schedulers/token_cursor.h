// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/units.h"
#include "sim/content.h"
#include "sim/schedulers/token_edge.h"

namespace poolcast {

/// A place in a list of segments, with the tokens left until its end. The list must outlive it.
class TokenCursor {
 public:
  TokenCursor() = default;
  TokenCursor(const Segment* segments, Tokens tokens) : at_(segments), left_(tokens) {}

  Tokens left() const { return left_; }
  /// The same place, with `tokens` tokens left.
  TokenCursor with_left(Tokens tokens) const {
    TokenCursor at = *this;
    at.left_ = tokens;
    return at;
  }

  void advance(Tokens n) {
    left_ -= n;
    offset_ += n;
    while (left_ > 0 && offset_ >= at_->tokens) {
      offset_ -= at_->tokens;
      ++at_;
    }
  }
  /// Segments without tokens are passed over.
  void settle() { advance(0); }

  /// Tokens that are the same from here on in both.
  static Tokens common(TokenCursor a, TokenCursor b) {
    Tokens same = 0;
    while (a.left_ > 0 && b.left_ > 0 && a.id() == b.id() && a.position() == b.position()) {
      const Tokens n = std::min(a.run(), b.run());
      same += n;
      a.advance(n);
      b.advance(n);
    }
    return same;
  }

  /// A hash of the next `n` tokens, however they are cut into segments.
  std::uint64_t hash(Tokens n, std::uint64_t seed) const {
    TokenCursor at = *this;
    std::uint64_t h = seed;
    while (n > 0) {
      const std::uint64_t id = at.id();
      const std::int64_t begin = at.position();
      Tokens length = 0;
      while (n > 0 && at.id() == id && at.position() == begin + length) {
        const Tokens run = std::min(at.run(), n);
        length += run;
        n -= run;
        at.advance(run);
      }
      h = mix(h ^ mix(id)) ^ mix(static_cast<std::uint64_t>(begin) + 0x9e3779b97f4a7c15ull);
      h = mix(h + static_cast<std::uint64_t>(length));
    }
    return h;
  }

  /// Appends the next `n` tokens to `edge` and goes past them.
  void take(Tokens n, TokenEdge& edge) {
    while (n > 0) {
      const Tokens length = std::min(run(), n);
      edge.append({id(), position(), length});
      n -= length;
      advance(length);
    }
  }

 private:
  /// Tokens of the present segment from here on.
  Tokens run() const { return std::min(at_->tokens - offset_, left_); }
  std::uint64_t id() const { return at_->id; }
  std::int64_t position() const { return at_->start + offset_; }

  /// splitmix64's last step (Steele, Lea, Flood 2014).
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }

  const Segment* at_ = nullptr;
  Tokens offset_ = 0;
  Tokens left_ = 0;
};

}  // namespace poolcast
