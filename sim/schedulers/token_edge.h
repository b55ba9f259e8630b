// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "models/units.h"
#include "sim/content.h"

namespace poolcast {

/// The tokens between two nodes of a tree. Most are one segment, which lies here and not somewhere else in memory.
class TokenEdge {
 public:
  const Segment* data() const { return more_ ? more_->data() : &one_; }
  const Segment* begin() const { return data(); }
  const Segment* end() const { return data() + size(); }
  std::size_t size() const { return more_ ? more_->size() : one_.tokens > 0; }

  void clear() {
    one_ = {};
    more_.reset();
  }
  /// Tokens that continue the last segment become part of it.
  void append(const Segment& piece) {
    Segment& last = back();
    if (last.tokens == 0) {
      last = piece;
    } else if (last.id == piece.id && last.start + last.tokens == piece.start) {
      last.tokens += piece.tokens;
    } else {
      if (!more_) more_ = std::make_unique<std::vector<Segment>>(1, one_);
      more_->push_back(piece);
    }
  }
  /// Forgets the last `tokens` tokens, but not all.
  void shorten(Tokens tokens) {
    while (tokens > 0) {
      const Tokens gone = std::min(back().tokens, tokens);
      back().tokens -= gone;
      tokens -= gone;
      if (back().tokens == 0) more_->pop_back();
    }
  }

 private:
  Segment& back() { return more_ ? more_->back() : one_; }

  Segment one_;
  std::unique_ptr<std::vector<Segment>> more_;  ///< all of them, where there is more than one
};

}  // namespace poolcast
