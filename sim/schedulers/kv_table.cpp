// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/kv_table.h"

#include <algorithm>

namespace poolcast {
namespace {

/// The finaliser of MurmurHash3 (Appleby, public domain) over the hash so far and one word for the piece.
std::uint64_t mix(std::uint64_t hash, const Segment& piece) {
  const std::uint64_t word = piece.id * 0xd6e8feb86659fd93ULL +
                             static_cast<std::uint64_t>(piece.start) * 0x9e3779b97f4a7c15ULL +
                             static_cast<std::uint64_t>(piece.tokens) * 0xc2b2ae3d27d4eb4fULL;
  hash = (hash ^ word ^ (word >> 32)) * 0xff51afd7ed558ccdULL;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 33);
}

}  // namespace

void KvTable::open(const Content& content, std::int64_t prompt_tokens, std::uint64_t own, std::uint64_t behind) {
  blocks.clear();
  hashes_.clear();
  entered = 0;
  prompt_ = prompt_tokens;
  own_ = own;
  behind_ = behind;
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

/// Hashes the blocks up to `index`.
void KvTable::extend(std::size_t index, const Content& content, std::int64_t block_size) {
  while (hashes_.size() <= index) {
    Segment piece = next_piece(content);
    if (piece.tokens <= block_size) {
      append_mixed(content, block_size);
      continue;
    }
    for (; piece.tokens > block_size && hashes_.size() <= index; piece.start += block_size) {
      push(mix(last_hash(), {piece.id, piece.start, block_size}));
      piece.tokens -= block_size;
      position_ += block_size;
      in_segment_ += block_size;
    }
  }
}

/// Hashes a block that may hold pieces of several segments. Neighbouring pieces that continue each other are taken as
/// one, so that the hash depends on the tokens alone and not on how the content is cut into segments.
void KvTable::append_mixed(const Content& content, std::int64_t block_size) {
  std::uint64_t hash = last_hash();
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
  push(mix(hash, pending));
}

}  // namespace poolcast
