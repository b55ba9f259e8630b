// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/kv_blocks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <list>
#include <map>

#include "sim/random.h"

using namespace poolcast;

namespace {

using Token = std::pair<std::uint64_t, std::int64_t>;
using Chain = std::vector<Token>;  // every token from the first to the last of a block

/// The prefix cache as one would explain it: blocks with names, whole prefixes as keys, queues as lists.
class ReferenceCache {
 public:
  ReferenceCache(std::int64_t block_size, std::int64_t blocks)
      : block_size_(block_size), chain_(blocks), users_(blocks) {
    for (std::int64_t b = 0; b < blocks; ++b) free_.push_back(b);
  }

  std::int64_t free() const { return static_cast<std::int64_t>(free_.size()); }
  std::size_t cached() const {
    return static_cast<std::size_t>(
        std::count_if(chain_.begin(), chain_.end(), [](const Chain& c) { return !c.empty(); }));
  }

  std::vector<std::int64_t> match(const Chain& tokens, std::int64_t count) const {
    std::vector<std::int64_t> found;
    for (std::int64_t end = block_size_; end <= count - 1; end += block_size_) {
      const auto copies = cache_.find(Chain(tokens.begin(), tokens.begin() + end));
      if (copies == cache_.end()) break;
      found.push_back(copies->second.front());
    }
    return found;
  }
  std::int64_t idle(const std::vector<std::int64_t>& blocks) const {
    return std::count_if(blocks.begin(), blocks.end(), [this](std::int64_t b) { return users_[b] == 0; });
  }
  void touch(const std::vector<std::int64_t>& blocks) {
    for (const std::int64_t b : blocks) {
      if (users_[b]++ == 0) free_.remove(b);
    }
  }
  std::int64_t take() {
    const std::int64_t b = free_.front();
    free_.pop_front();
    forget(b);
    users_[b] = 1;
    return b;
  }
  void enter(std::int64_t block, const Chain& chain) {
    if (!chain_[block].empty()) return;
    chain_[block] = chain;
    cache_[chain].push_back(block);
  }
  void forget(std::int64_t block) {
    if (chain_[block].empty()) return;
    auto& copies = cache_[chain_[block]];
    copies.erase(std::find(copies.begin(), copies.end(), block));
    if (copies.empty()) cache_.erase(chain_[block]);
    chain_[block].clear();
  }
  void release(std::vector<std::int64_t> table) {
    std::reverse(table.begin(), table.end());
    std::list<std::int64_t> blank;
    for (const std::int64_t b : table) {
      if (--users_[b] > 0) continue;
      (chain_[b].empty() ? blank : free_).push_back(b);
    }
    free_.splice(free_.begin(), blank);
  }

 private:
  std::int64_t block_size_;
  std::vector<Chain> chain_;
  std::vector<int> users_;
  std::list<std::int64_t> free_;
  std::map<Chain, std::deque<std::int64_t>> cache_;
};

/// Drives both caches through the life of random requests.
class Duel {
 public:
  Duel(std::uint64_t seed, std::int64_t block_size, std::int64_t blocks)
      : random_(seed, "duel"),
        block_size_(block_size),
        real_(block_size, blocks, true, table_),
        reference_(block_size, blocks) {}

  void operate() {
    const double kind = random_.uniform();
    if (running_.empty() || (kind < 0.3 && running_.size() < 12)) {
      admit(random_.uniform() < 0.3 && !waiting_.empty() ? resume() : create());
    } else {
      Held& held = running_[random_.below(running_.size())];
      if (kind < 0.85) {
        grow(held);
      } else {
        leave(held, kind < 0.95 ? KvBlocks::Leaving::kEnded : KvBlocks::Leaving::kPreempted);
      }
    }
    REQUIRE(real_.free() == reference_.free());
  }
  std::int64_t hits() const { return hits_; }
  std::int64_t evictions() const { return taken_; }

 private:
  struct Held {
    RequestId id;
    Chain tokens;  // all that it can ever have
    std::int64_t computed = 0;
    std::vector<std::int64_t> blocks;  // of the reference
  };

  std::int64_t blocks(std::int64_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  Held create() {
    Held h;
    h.id = table_.create();
    const std::uint64_t row = ++rows_;
    Content& c = table_.content(h.id);
    c = {};
    if (random_.uniform() < 0.6 && !past_.empty()) {
      c = past_[past_.size() - 1 - random_.below(std::min<std::size_t>(past_.size(), 20))];
      if (random_.uniform() < 0.5 && c.output != 0) c.prompt.push_back({c.output, 0, between(1, 9)});
    } else {
      c.prompt.push_back({random_.below(4) + 1, 0, between(1, 40)});
    }
    if (random_.uniform() < 0.6) c.prompt.push_back({1000 + row, 0, between(1, 30)});
    c.output = random_.uniform() < 0.7 ? 1'000'000 + row : 0;
    std::int64_t prompt = 0;
    for (const Segment& s : c.prompt) prompt += s.tokens;
    if (random_.uniform() < 0.2) prompt += between(1, 20);  // more than its content tells
    past_.push_back(c);
    SchedulerState& s = table_.state(h.id);
    s.prompt_tokens = prompt;
    s.rank = row;
    for (const Segment& piece : c.prompt) {
      for (std::int64_t k = 0; k < piece.tokens; ++k) h.tokens.emplace_back(piece.id, piece.start + k);
    }
    const std::uint64_t own = (std::uint64_t{1} << 63) | row;
    while (static_cast<std::int64_t>(h.tokens.size()) < prompt) h.tokens.emplace_back(own, h.tokens.size());
    for (std::int64_t k = 0; k < 60; ++k) {
      h.tokens.push_back(c.output != 0 ? Token{c.output, k} : Token{own, prompt + k});
    }
    real_.open_table(h.id);
    return h;
  }

  Held resume() {
    Held h = waiting_.back();
    waiting_.pop_back();
    return h;
  }

  /// A request that may be admitted with its prompt and, after a preemption, some outputs.
  void admit(Held h) {
    const std::int64_t count = table_.state(h.id).prompt_tokens + (table_.state(h.id).preemptions > 0 ? 5 : 0);
    const KvBlocks::Match m = real_.match(h.id, count);
    const std::vector<std::int64_t> found = reference_.match(h.tokens, count);
    REQUIRE(m.blocks == static_cast<std::int64_t>(found.size()));
    REQUIRE(m.idle == reference_.idle(found));
    const std::int64_t end = between(m.blocks * block_size_ + 1, count);
    if (blocks(end) - m.blocks + m.idle > real_.free()) {
      waiting_.push_back(h);
      if (!running_.empty()) leave(running_.front(), KvBlocks::Leaving::kEnded);
      return;
    }
    hits_ += m.blocks;
    real_.admit(h.id, end);
    reference_.touch(found);
    h.blocks = found;
    give(h, end);
    running_.push_back(h);
  }

  void give(Held& h, std::int64_t end) {
    while (static_cast<std::int64_t>(h.blocks.size()) < blocks(end)) {
      h.blocks.push_back(reference_.take());
      ++taken_;
    }
    for (std::int64_t b = 0; b < end / block_size_; ++b) {
      reference_.enter(h.blocks[b], Chain(h.tokens.begin(), h.tokens.begin() + (b + 1) * block_size_));
    }
    h.computed = end;
  }

  /// A chunk of the prompt, or one token of output.
  void grow(Held& h) {
    const std::int64_t prompt = table_.state(h.id).prompt_tokens;
    const bool decoding = h.computed >= prompt;
    const std::int64_t end = decoding ? h.computed + 1 : between(h.computed + 1, prompt);
    if (end > static_cast<std::int64_t>(h.tokens.size())) return leave(h, KvBlocks::Leaving::kEnded);
    if (blocks(end) - blocks(h.computed) > real_.free()) return leave(h, KvBlocks::Leaving::kPreempted);
    if (decoding) {
      real_.open(blocks(end) - blocks(h.computed));
      real_.settle(h.id, end);  // who may be quoted is settled before every lookup; here at once
    } else {
      real_.grow(h.id, h.computed, end);
    }
    give(h, end);
  }

  void leave(Held& h, KvBlocks::Leaving how) {
    real_.release(h.id, h.computed, h.computed, how, false);
    reference_.release(h.blocks);
    const Held gone = h;
    h = running_.back();
    running_.pop_back();
    if (how == KvBlocks::Leaving::kPreempted) {
      ++table_.state(gone.id).preemptions;
      waiting_.push_back({gone.id, gone.tokens, 0, {}});
    } else {
      table_.release(gone.id);
    }
  }

  RandomStream random_;
  std::int64_t block_size_;
  RequestTable table_;
  KvBlocks real_;
  ReferenceCache reference_;
  std::vector<Held> running_, waiting_;
  std::vector<Content> past_;
  std::uint64_t rows_ = 0;
  std::int64_t hits_ = 0, taken_ = 0;
};

}  // namespace

TEST_CASE("the prefix cache agrees with a slow and obvious one over 100,000 random operations") {
  std::int64_t hits = 0, taken = 0;
  const std::int64_t sizes[] = {1, 3, 4, 16, 16};
  const std::int64_t pools[] = {300, 40, 60, 12, 400};
  for (std::uint64_t world = 0; world < 5; ++world) {
    Duel duel(world, sizes[world], pools[world]);
    for (int i = 0; i < 20'000; ++i) duel.operate();
    hits += duel.hits();
    taken += duel.evictions();
  }
  CHECK(hits > 10'000);
  CHECK(taken > 10'000);
}

TEST_CASE("a prompt of a thousand blocks is one run, and is cut where another leaves it") {
  RequestTable table;
  KvBlocks kv(16, 3000, true, table);
  const auto request = [&](std::vector<Segment> prompt, std::int64_t tokens) {
    const RequestId id = table.create();
    table.content(id) = {std::move(prompt), 0, 0};
    table.state(id).prompt_tokens = tokens;
    table.state(id).rank = id.value;
    kv.open_table(id);
    return id;
  };
  const RequestId first = request({{7, 0, 16'000}, {8, 0, 16}}, 16'016);
  CHECK(kv.match(first, 16'016).blocks == 0);
  kv.admit(first, 16'016);
  CHECK(table.held(first).parts.size() == 1);
  CHECK(kv.entered(first) == 1001);

  const RequestId second = request({{7, 0, 8'000}, {9, 0, 800}}, 8'800);
  const KvBlocks::Match shared = kv.match(second, 8'800);
  CHECK(shared.blocks == 500);
  CHECK(shared.idle == 0);
  kv.admit(second, 8'800);
  CHECK(table.held(second).parts.size() == 2);
  CHECK(kv.free() == 3000 - 1001 - 50);
  kv.release(first, 16'016, 16'016);
  CHECK(kv.free() == 3000 - 500 - 50);  // the shared half is still used
  CHECK(kv.match(request({{7, 0, 16'000}}, 16'000), 16'000).idle == 499);
  kv.release(second, 8'800, 8'800);

  // New blocks come first, then the tail of what was used longest ago.
  const RequestId third = request({{11, 0, 16 * 2000}}, 16 * 2000);
  CHECK(kv.match(third, 16 * 2000).blocks == 0);
  kv.admit(third, 16 * 2000);
  CHECK(kv.match(request({{7, 0, 16'000}, {8, 0, 17}}, 16'017), 16'017).blocks == 950);
}

TEST_CASE("the copy of a block that was entered first is found, and the other one when that is gone") {
  RequestTable table;
  KvBlocks kv(4, 8, true, table);
  const auto request = [&](Segment prompt) {
    const RequestId id = table.create();
    table.content(id) = {{prompt}, 0, 0};
    table.state(id).prompt_tokens = prompt.tokens;
    table.state(id).rank = id.value;
    kv.open_table(id);
    return id;
  };
  // A prompt that ends with a block computes that block again: the second request has a copy of block 1.
  const RequestId first = request({7, 0, 8}), second = request({7, 0, 8});
  CHECK(kv.match(first, 8).blocks == 0);
  kv.admit(first, 8);
  CHECK(kv.match(second, 8).blocks == 1);
  kv.admit(second, 8);
  CHECK(kv.free() == 5);
  kv.release(first, 8, 8);
  CHECK(kv.free() == 6);  // its own copy of block 1; block 0 is used
  const RequestId longer = request({7, 0, 12});
  CHECK(kv.match(longer, 12).idle == 1);  // of block 1 the idle copy, entered first

  const RequestId other = request({9, 0, 24});  // takes the five that are new and that copy
  CHECK(kv.match(other, 24).blocks == 0);
  kv.admit(other, 24);
  CHECK(kv.free() == 0);
  CHECK(kv.match(longer, 12).blocks == 2);
  CHECK(kv.match(longer, 12).idle == 0);  // the copy that the second request uses
}

TEST_CASE("the hash of a block depends on its tokens, not on how they are cut into segments") {
  KvTable a, b, c;
  const Content whole{{{7, 0, 40}}, 0};
  const Content cut{{{7, 0, 5}, {7, 5, 20}, {7, 25, 15}}, 0};
  const Content other{{{7, 0, 20}, {7, 21, 20}}, 0};
  a.open(whole, 40, 1);
  b.open(cut, 40, 2);
  c.open(other, 40, 3);
  for (std::size_t i = 0; i < 5; ++i) CHECK(a.hash(i, whole, 8) == b.hash(i, cut, 8));
  CHECK(a.hash(1, whole, 8) == c.hash(1, other, 8));
  CHECK(a.hash(2, whole, 8) != c.hash(2, other, 8));  // tokens 16 to 23: the other skips token 20
  CHECK(a.hash(0, whole, 8) != a.hash(0 + 1, whole, 8));
}

TEST_CASE("the index of the prefix cache finds what was inserted and nothing that was erased") {
  HashIndex index;
  std::map<std::uint64_t, std::uint32_t> reference;
  RandomStream random(1, "index");
  for (int i = 0; i < 50'000; ++i) {
    // Few different low bits, so that chains of probes are long and wrap around.
    const std::uint64_t hash =
        (random.below(500) << 32) | (random.below(2) == 0 ? random.below(4) : 60 + random.below(4));
    if (hash == 0) continue;
    const auto known = reference.find(hash);
    REQUIRE(index.find(hash) == (known == reference.end() ? HashIndex::kNone : known->second));
    if (known == reference.end()) {
      index.insert(hash, static_cast<std::uint32_t>(i));
      reference[hash] = static_cast<std::uint32_t>(i);
    } else if (random.below(2) == 0) {
      index.erase(hash, known->second);
      reference.erase(known);
    }
    REQUIRE(index.size() == reference.size());
  }
}
