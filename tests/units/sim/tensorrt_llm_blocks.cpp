// SPDX-License-Identifier: Apache-2.0
// Blocks and tree of TensorRT-LLM against models that are slow and obvious.
#include <catch2/catch.hpp>

#include <algorithm>
#include <list>
#include <map>

#include "sim/random.h"
#include "sim/schedulers/tensorrt_llm_blocks.h"

using namespace poolcast;

namespace {

using Words = std::vector<std::int64_t>;  ///< tokens, one number each

Words words(const Content& content, std::int64_t prompt, std::uint64_t own, std::int64_t tokens) {
  Words result;
  const auto word = [](std::uint64_t id, std::int64_t at) { return static_cast<std::int64_t>(id) * 100'000 + at; };
  for (const Segment& s : content.prompt) {
    for (std::int64_t k = 0; k < s.tokens; ++k) result.push_back(word(s.id, s.start + k));
  }
  result.resize(static_cast<std::size_t>(std::min(prompt, static_cast<std::int64_t>(result.size()))));
  for (auto at = static_cast<std::int64_t>(result.size()); at < tokens; ++at) {
    const bool output = at >= prompt && content.output != 0;
    result.push_back(output ? word(content.output, at - prompt) : word(own, at));
  }
  result.resize(static_cast<std::size_t>(tokens));
  return result;
}

bool begins(const Words& whole, const Words& part) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

/// Every block a number, every node its whole chain of tokens, everything looked for from the start.
class Reference {
 public:
  Reference(std::int64_t block_size, std::int64_t blocks, bool partial)
      : size_(static_cast<std::size_t>(block_size)), partial_(partial), users_(static_cast<std::size_t>(blocks)) {
    for (std::int64_t b = 0; b < blocks; ++b) queue_.push_back(static_cast<std::size_t>(b));
  }

  std::int64_t free() const { return static_cast<std::int64_t>(queue_.size()); }
  std::int64_t found(const Words& tokens, std::int64_t* referenced) const {
    std::int64_t count = 0;
    for (std::size_t end = size_; end <= tokens.size(); end += size_, ++count) {
      const auto node = tree_.find(Words(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end)));
      if (node == tree_.end()) break;
      *referenced += users_[node->second.block] > 0;
    }
    return count;
  }

  /// The tokens that need not be computed, or -1; gives the blocks.
  std::int64_t add(const Words& tokens, std::vector<std::size_t>& blocks) {
    Words head(tokens.begin(), tokens.end() - 1);
    std::int64_t referenced = 0;
    const std::int64_t shared = found(head, &referenced);
    const auto need = static_cast<std::int64_t>((tokens.size() + size_ - 1) / size_);
    if (need - referenced > free()) return -1;
    std::size_t at = 0;
    for (std::int64_t i = 0; i < shared; ++i, at += size_) {
      blocks.push_back(tree_.at(Words(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(at + size_))).block);
      claim(blocks.back());
    }
    std::size_t reused = at;
    if (partial_) reused += part(head, at, blocks);
    while (static_cast<std::int64_t>(blocks.size()) < need) blocks.push_back(take());
    return static_cast<std::int64_t>(reused);
  }

  void store(const Words& tokens, const std::vector<std::size_t>& blocks, bool partial) {
    for (std::size_t at = 0; at < tokens.size(); at += size_) {
      const std::size_t end = std::min(at + size_, tokens.size());
      if (end < at + size_ && !(partial && partial_)) return;
      const Words chain(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end));
      if (tree_.count(chain) == 0) tree_[chain] = {blocks[at / size_], at, ++entered_};
    }
  }

  std::size_t take() {
    const std::size_t block = queue_.front();
    queue_.pop_front();
    users_[block] = 1;
    forget(block);
    return block;
  }

  void release(const std::vector<std::size_t>& blocks) {
    for (std::size_t i = blocks.size(); i-- > 0;) {
      if (--users_[blocks[i]] == 0) queue_.push_back(blocks[i]);
    }
  }

 private:
  struct Node {
    std::size_t block;
    std::size_t parent;  ///< tokens of the chain before it
    int entered;
  };

  /// Nothing is below a node that is not full, though others may begin like it.
  bool below(const Words& chain, const Words& top) const {
    return top.size() % size_ == 0 && chain.size() > top.size() && begins(chain, top);
  }
  void claim(std::size_t block) {
    if (users_[block]++ == 0) queue_.remove(block);
  }
  void forget(std::size_t block) {
    for (auto node = tree_.begin(); node != tree_.end(); ++node) {
      if (node->second.block != block) continue;
      const Words chain = node->first;
      std::erase_if(tree_, [&](const auto& n) { return n.first == chain || below(n.first, chain); });
      return;
    }
  }
  /// The child of the chain of `at` tokens that shares most of the next block; of equals the youngest.
  std::size_t part(const Words& head, std::size_t at, std::vector<std::size_t>& blocks) {
    const Words parent(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(at));
    const Words* chosen = nullptr;
    std::size_t most = 0;
    for (const auto& [chain, node] : tree_) {
      if (node.parent != at || !begins(chain, parent)) continue;
      std::size_t shared = 0;
      while (at + shared < std::min(chain.size(), head.size()) && chain[at + shared] == head[at + shared]) ++shared;
      const bool younger = chosen != nullptr && node.entered > tree_.at(*chosen).entered;
      if (shared > most || (shared == most && shared > 0 && younger)) {
        most = shared;
        chosen = &chain;
      }
    }
    if (chosen == nullptr) return 0;
    const std::size_t block = tree_.at(*chosen).block;
    const bool leaf = std::none_of(tree_.begin(), tree_.end(), [&](const auto& n) { return below(n.first, *chosen); });
    if (users_[block] > 0 || !leaf) {
      blocks.push_back(take());
    } else {
      forget(block);
      claim(block);
      blocks.push_back(block);
    }
    return most;
  }

  std::size_t size_;
  bool partial_;
  int entered_ = 0;
  std::vector<int> users_;
  std::list<std::size_t> queue_;
  std::map<Words, Node> tree_;
};

struct Sequence {
  std::int64_t tokens = 0;  ///< computed
  std::int64_t prompt = 0;  ///< what it began with this time
  bool running = false;
  std::vector<std::size_t> blocks;
};

}  // namespace

TEST_CASE("TensorRT-LLM's blocks agree with a slow and obvious model on 100,000 random operations") {
  const bool partial = GENERATE(false, true);
  const std::int64_t block_size = GENERATE(1, 3, 4);
  if (partial && block_size == 1) return;
  const std::int64_t usable = 14;
  TensorrtLlmArgs args;
  args.tokens_per_block = block_size;
  args.num_blocks = usable;
  args.enable_partial_reuse = partial;
  RequestTable table;
  TrtBlocks kv(args, table);
  Reference reference(block_size, usable, partial);
  RandomStream random(static_cast<std::uint64_t>(block_size + 10 * partial), "blocks of tensorrt-llm");
  std::map<std::uint32_t, Sequence> sequences;
  std::uint64_t requests = 0, hits = 0;
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  const auto said = [&](RequestId id, std::int64_t tokens) {
    const SchedulerState& s = table.state(id);
    return words(table.content(id), s.prompt_tokens, 1000 + s.rank, tokens);
  };

  for (int step = 0; step < 20'000; ++step) {     // of each of five kinds
    if (sequences.size() < 5 && below(2) == 0) {  // somebody new
      const RequestId id = table.create();
      SchedulerState& s = table.state(id);
      s.rank = ++requests;
      Content& content = table.content(id);
      content.prompt.clear();
      content.output = below(2) == 0 ? 0 : static_cast<std::uint64_t>(50 + below(3));
      std::int64_t known = 0;
      for (std::int64_t pieces = below(4); pieces > 0; --pieces) {
        content.prompt.push_back({static_cast<std::uint64_t>(1 + below(2)), below(2), 1 + below(5)});
        known += content.prompt.back().tokens;
      }
      s.prompt_tokens = std::max<std::int64_t>(1, known + (below(2) == 0 ? 0 : below(6)));
      s.tokens = s.prompt_tokens;
      kv.open_table(id);
      sequences[id.value].prompt = s.prompt_tokens;
      continue;
    }
    if (sequences.empty()) continue;
    auto chosen = sequences.begin();
    std::advance(chosen, below(static_cast<std::int64_t>(sequences.size())));
    const RequestId id(chosen->first);
    Sequence& q = chosen->second;
    if (!q.running) {
      std::int64_t referenced = 0;
      const std::int64_t found = reference.found(said(id, q.prompt), &referenced);
      const TrtBlocks::Found ours = kv.look_up(id, q.prompt);
      REQUIRE(ours.blocks == found);
      REQUIRE(ours.referenced == referenced);
      const std::int64_t reused = reference.add(said(id, q.prompt), q.blocks);
      REQUIRE(kv.add_sequence(id, q.prompt) == reused);
      if (reused < 0) continue;
      hits += static_cast<std::uint64_t>(reused);
      q.running = true;
      q.tokens = q.prompt;
      reference.store(said(id, q.tokens), q.blocks, false);
      kv.store_prompt(id, q.tokens);
    } else if (below(3) > 0) {  // one more token
      if (q.tokens % block_size == 0) {
        if (kv.free() == 0) continue;
        kv.open(1);
        q.blocks.push_back(reference.take());
      }
      ++q.tokens;
    } else {
      const bool pause = below(3) == 0;
      reference.store(said(id, q.tokens), q.blocks, true);
      reference.release(q.blocks);
      kv.release(id, q.tokens, q.tokens, pause ? TrtBlocks::Leaving::kPaused : TrtBlocks::Leaving::kEnded);
      if (pause && q.tokens + 1 < usable * block_size) {
        q = {0, q.tokens + 1, false, {}};
        ++table.state(id).preemptions;
      } else {
        sequences.erase(chosen);
        table.release(id);
      }
    }
    REQUIRE(kv.free() == reference.free());
  }
  CHECK(hits > 700);
}

TEST_CASE("the tree finds the child with most tokens in common, among few and many, as a search through all does") {
  TrtTree tree;
  RandomStream random(3, "tree of tensorrt-llm");
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random.below(n)); };
  struct Known {
    std::uint32_t parent;
    Words tokens;
    bool full;
  };
  std::map<std::uint32_t, Known> nodes;
  std::uint64_t hashes = 100;
  const auto random_key = [&](Words& tokens) {
    // Few first tokens, so that many keys begin alike.
    std::vector<Segment> key;
    const std::size_t length = 1 + below(4);
    while (tokens.size() < length) {
      const std::uint64_t id = 1 + below(3);
      const std::int64_t start = static_cast<std::int64_t>(below(2));
      const auto count = static_cast<std::int64_t>(1 + below(length - tokens.size()));
      for (std::int64_t k = 0; k < count; ++k) tokens.push_back(static_cast<std::int64_t>(id) * 100 + start + k);
      if (!key.empty() && key.back().id == id && key.back().start + key.back().tokens == start) {
        key.back().tokens += count;
      } else {
        key.push_back({id, start, count});
      }
    }
    return key;
  };
  std::size_t many = 0;
  for (int step = 0; step < 20'000; ++step) {
    std::uint32_t parent = TrtTree::kRoot;
    if (!nodes.empty() && below(2) == 0) {
      auto at = nodes.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(below(nodes.size())));
      if (at->second.full) parent = at->first;
    }
    Words tokens;
    const std::vector<Segment> key = random_key(tokens);
    std::size_t most = 0, children = 0;
    bool whole = false;
    for (const auto& [block, node] : nodes) {
      if (node.parent != parent) continue;
      ++children;
      const auto differ = std::mismatch(tokens.begin(), tokens.end(), node.tokens.begin(), node.tokens.end());
      most = std::max(most, static_cast<std::size_t>(differ.first - tokens.begin()));
      whole |= tokens == node.tokens;
    }
    many += children > 8;
    const TrtTree::Shared shared = tree.longest_shared(parent, key);
    REQUIRE(shared.tokens == static_cast<std::int64_t>(most));
    REQUIRE(shared.whole == whole);
    if (!whole && nodes.size() < 60) {
      auto block = static_cast<std::uint32_t>(below(100));
      while (nodes.count(block) > 0) block = (block + 1) % 100;
      const bool full = tokens.size() == 4;
      tree.insert(block, parent, full ? ++hashes : 0, key);
      nodes[block] = {parent, tokens, full};
      if (full) REQUIRE(tree.find(hashes) == block);
    } else if (!nodes.empty()) {
      auto at = nodes.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(below(nodes.size())));
      std::vector<std::uint32_t> below_it{at->first};
      for (std::size_t i = 0; i < below_it.size(); ++i) {
        for (const auto& [block, node] : nodes) {
          if (node.parent == below_it[i]) below_it.push_back(block);
        }
      }
      REQUIRE(tree.leaf(at->first) == (below_it.size() == 1));
      REQUIRE(tree.remove(at->first) == static_cast<std::int64_t>(below_it.size()));
      for (const std::uint32_t block : below_it) {
        REQUIRE_FALSE(tree.listed(block));
        nodes.erase(block);
      }
    }
  }
  CHECK(many > 1000);
}
