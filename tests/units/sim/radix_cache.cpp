// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/radix_cache.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/random.h"
#include "tests/support/data.h"

using namespace poolcast;
using nlohmann::json;
using Eviction = SglangArgs::Eviction;

namespace {

/// Tokens as a file names them: number n is the token (n, 0), each a segment of its own.
std::vector<Segment> tokens(const std::vector<std::int64_t>& numbers) {
  std::vector<Segment> segments;
  for (const std::int64_t n : numbers) segments.push_back({static_cast<std::uint64_t>(n), 0, 1});
  return segments;
}

Tokens length(const std::vector<Segment>& segments) {
  Tokens sum = 0;
  for (const Segment& s : segments) sum += s.tokens;
  return sum;
}

RadixCache::Match match(RadixCache& cache, const std::vector<Segment>& key) { return cache.match({key, length(key)}); }
Tokens insert(RadixCache& cache, const std::vector<Segment>& key, std::int32_t priority = 0, bool chunked = false) {
  return cache.insert({key, length(key)}, priority, chunked);
}

json dump(const RadixCache& cache, RadixCache::Node node) {
  json key = json::array(), children = json::array();
  for (const Segment& s : cache.edge(node)) {
    for (Tokens i = 0; i < s.tokens; ++i) key.push_back(s.id);
  }
  for (auto n = cache.first_child(node); n != RadixCache::kNone; n = cache.next_sibling(n)) {
    children.push_back(dump(cache, n));
  }
  return {key, cache.locks(node), cache.hits(node), cache.priority(node), children};
}

Eviction eviction(const std::string& name) {
  const std::map<std::string, Eviction> names = {
      {"lru", Eviction::kLru},   {"lfu", Eviction::kLfu},   {"fifo", Eviction::kFifo},        {"mru", Eviction::kMru},
      {"filo", Eviction::kFilo}, {"slru", Eviction::kSlru}, {"priority", Eviction::kPriority}};
  return names.at(name);
}

void replay(const json& file) {
  RadixCache cache(file.at("page_size"), eviction(file.at("policy")));
  std::map<std::size_t, RadixCache::Node> locked;  // by the operation that locked it
  for (std::size_t i = 0; i < file.at("ops").size(); ++i) {
    const json& op = file.at("ops").at(i);
    INFO(file.at("name") << " " << op.dump());
    const std::string kind = op.at("op");
    if (kind == "insert") {
      CHECK(insert(cache, tokens(op.at("key")), op.at("priority"), op.at("chunked")) == op.at("prefix_len"));
    } else if (kind == "match") {
      const RadixCache::Match m = match(cache, tokens(op.at("key")));
      CHECK(m.tokens == static_cast<Tokens>(op.at("hit").size()));
      if (op.contains("lock")) {
        cache.lock(m.node);
        locked[i] = m.node;
      }
    } else if (kind == "unlock") {
      cache.unlock(locked.at(op.at("of")));
    } else {
      REQUIRE(kind == "evict");
      CHECK(cache.evict(op.at("num_tokens")) == op.at("evicted"));
    }
    CHECK(cache.evictable() == op.at("evictable"));
    CHECK(cache.protected_tokens() == op.at("protected"));
    if (op.contains("tree")) CHECK(dump(cache, RadixCache::kRoot) == op.at("tree"));
  }
}

}  // namespace

TEST_CASE("the radix cache does what SGLang's does, operation by operation", "[data]") {
  POOLCAST_NEED_DATA(folder, "oracle_sglang/cases_radix");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    std::ifstream in(entry.path());
    replay(json::parse(in));
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("a radix match ends at a page border and cuts the node there") {
  RadixCache cache(4, Eviction::kLru);
  CHECK(insert(cache, {{1, 0, 11}}) == 0);  // two pages; the rest is left out
  CHECK(cache.evictable() == 8);
  const RadixCache::Match m = match(cache, {{1, 0, 7}, {2, 0, 9}});
  CHECK(m.tokens == 4);
  CHECK(dump(cache, RadixCache::kRoot) == json::parse("[[],1,0,0,[[[1,1,1,1],0,1,0,[[[1,1,1,1],0,1,0,[]]]]]]"));
  cache.lock(m.node);
  CHECK(cache.evictable() == 4);
  CHECK(cache.protected_tokens() == 4);
  CHECK(cache.evict(100) == 4);
  CHECK(match(cache, {{1, 0, 8}}).tokens == 4);
}

TEST_CASE("it does not matter how the same tokens are cut into segments") {
  RadixCache cache(4, Eviction::kLru);
  insert(cache, {{1, 0, 2}, {1, 2, 4}, {2, 5, 1}, {2, 6, 1}});
  CHECK(match(cache, {{1, 0, 6}, {2, 5, 2}}).tokens == 8);
  CHECK(match(cache, {{1, 0, 1}, {1, 1, 5}, {7, 0, 0}, {2, 5, 1}, {2, 6, 1}}).tokens == 8);
  CHECK(match(cache, {{1, 0, 6}, {2, 6, 2}}).tokens == 4);
  CHECK(match(cache, {{1, 1, 6}}).tokens == 0);
}

TEST_CASE("eviction frees whole leaves, and more than was asked for") {
  RadixCache cache(1, Eviction::kLru);
  insert(cache, {{1, 0, 10}});
  insert(cache, {{1, 0, 10}, {2, 0, 5}});
  insert(cache, {{1, 0, 10}, {3, 0, 5}});
  match(cache, {{1, 0, 10}, {2, 0, 5}});
  CHECK(cache.evict(1) == 5);  // segment 3, used longest ago
  CHECK(match(cache, {{1, 0, 10}, {3, 0, 5}}).tokens == 10);
  CHECK(cache.evict(6) == 15);  // segment 2, then its parent, which has no children any more
  CHECK(cache.evictable() == 0);
}

TEST_CASE("a most-recently-used radix cache gives up the leaf that was used last") {
  RadixCache cache(1, Eviction::kMru);
  for (std::uint64_t id = 1; id <= 3; ++id) insert(cache, {{id, 0, 5}});
  for (int i = 0; i < 1000; ++i) match(cache, {{1, 0, 5}});
  match(cache, {{2, 0, 5}});
  CHECK(cache.evict(1) == 5);
  CHECK(match(cache, {{2, 0, 5}}).tokens == 0);
  CHECK(match(cache, {{1, 0, 5}}).tokens == 5);
}

namespace {

/// The same tree by the slow way: every node in a list, every leaf looked at in each eviction.
class PlainTree {
 public:
  explicit PlainTree(std::size_t page) : page_(page) {}
  using Key = std::vector<int>;

  Tokens insert(Key key, std::uint64_t now) {
    key.resize(key.size() / page_ * page_);
    Tokens present = 0;
    for (std::size_t n = page_; n <= key.size(); n += page_) {
      const Key prefix(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(n));
      present += used_.count(prefix) ? static_cast<Tokens>(page_) : 0;
      used_[prefix] = now;
    }
    return present;
  }
  Tokens match(const Key& key, std::uint64_t now) {
    Tokens found = 0;
    for (std::size_t n = page_; n <= key.size(); n += page_) {
      const auto it = used_.find(Key(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(n)));
      if (it == used_.end()) break;
      it->second = now;
      found += static_cast<Tokens>(page_);
    }
    return found;
  }
  Tokens size() const { return static_cast<Tokens>(used_.size() * page_); }

 private:
  std::size_t page_;
  std::map<Key, std::uint64_t> used_;
};

}  // namespace

TEST_CASE("the radix cache finds what a plain map from prefixes finds, over 100,000 operations") {
  for (const std::size_t page : {1u, 3u}) {
    RadixCache cache(static_cast<Tokens>(page), Eviction::kLru);
    PlainTree plain(page);
    RandomStream random(11, "radix");
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      if (i % 1'000 == 0) {
        CHECK(cache.evict(1'000'000) == plain.size());
        plain = PlainTree(page);
      }
      std::vector<int> key(random.below(24));
      std::vector<std::int64_t> numbers;
      for (int& k : key) numbers.push_back(k = random.below(10) > 7);
      if (random.below(2) == 0) {
        CHECK(insert(cache, tokens(numbers)) == plain.insert(key, i));
      } else {
        CHECK(match(cache, tokens(numbers)).tokens == plain.match(key, i));
      }
    }
    CHECK(cache.evictable() == plain.size());
  }
}
