// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/kv_table.h"

#include <algorithm>

namespace poolcast {
namespace {

/// A round of the finaliser of MurmurHash3 (Appleby, public domain) per word.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 33);
}

std::uint64_t mix(std::uint64_t hash, const Segment& piece) {
  hash = mix(hash, piece.id);
  return mix(
      hash, static_cast<std::uint64_t>(piece.start) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(piece.tokens));
}

}  // namespace

void KvTable::open(const Content& content, std::int64_t prompt_tokens, std::uint64_t own) {
  blocks.clear();
  hashes_.clear();
  entered = 0;
  prompt_ = prompt_tokens;
  own_ = own;
  position_ = in_segment_ = 0;
  segment_ = 0;
  known_ = 0;
  for (const Segment& s : content.prompt) known_ += s.tokens;
  known_ = std::min(known_, prompt_tokens);
  if (known_ == prompt_tokens && content.output != 0) known_ = INT64_MAX;
}

/// The stretch that starts at the next token to be hashed.
Segment KvTable::next_piece(const Content& content) const {
  if (position_ >= prompt_) {
    return content.output != 0 ? Segment{content.output, content.output_start + position_ - prompt_, INT64_MAX}
                               : Segment{own_, position_, INT64_MAX};
  }
  if (segment_ == content.prompt.size()) return {own_, position_, prompt_ - position_};
  const Segment& s = content.prompt[segment_];
  return {s.id, s.start + in_segment_, std::min(s.tokens - in_segment_, prompt_ - position_)};
}

/// Hashes one more block. Neighbouring pieces that continue each other are taken as one, so that the hash depends on
/// the tokens alone and not on how the content is cut into segments.
void KvTable::append(const Content& content, std::int64_t block_size) {
  std::uint64_t hash = hashes_.empty() ? 0x706f6f6c63617374ULL : hashes_.back();
  Segment pending;
  for (std::int64_t left = block_size; left > 0;) {
    Segment piece = next_piece(content);
    piece.tokens = std::min(piece.tokens, left);
    if (pending.tokens > 0 && pending.id == piece.id && pending.start + pending.tokens == piece.start) {
      pending.tokens += piece.tokens;
    } else {
      if (pending.tokens > 0) hash = mix(hash, pending);
      pending = piece;
    }
    left -= piece.tokens;
    position_ += piece.tokens;
    if (segment_ < content.prompt.size() && (in_segment_ += piece.tokens) == content.prompt[segment_].tokens) {
      ++segment_;
      in_segment_ = 0;
    }
  }
  hash = mix(hash, pending);
  hashes_.push_back(hash < 2 ? hash + 2 : hash);
}

}  // namespace poolcast
