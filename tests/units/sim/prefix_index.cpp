// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "sim/random.h"
#include "sim/routing/prefix_index.h"

using namespace poolcast;
using namespace poolcast::routing;

namespace {

PrefixIndex::Options blocks_of(std::int64_t size, std::int64_t capacity = 1000) {
  PrefixIndex::Options options;
  options.block_size = size;
  options.capacity = capacity;
  return options;
}

std::vector<std::int64_t> matches(PrefixIndex& index, const Content& content, std::int64_t tokens,
                                  std::size_t endpoints, std::int64_t* total = nullptr) {
  std::vector<PrefixMatch> found(endpoints);
  index.look_up(content, tokens, found);
  std::vector<std::int64_t> counts;
  for (const PrefixMatch& match : found) counts.push_back(match.match_blocks);
  if (total != nullptr) *total = found[0].total_blocks;
  return counts;
}

using Counts = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("an endpoint matches the blocks of the prompts it was sent, full ones only") {
  PrefixIndex index(blocks_of(10), 3);
  const Content first{{{1, 0, 100}}};
  std::int64_t total = 0;
  CHECK(matches(index, first, 95, 3, &total) == Counts{0, 0, 0});
  CHECK(total == 9);
  index.add(1);
  CHECK(matches(index, first, 95, 3) == Counts{0, 9, 0});
  CHECK(matches(index, {{{1, 0, 45}, {2, 0, 50}}}, 95, 3) == Counts{0, 4, 0});
  index.add(2);
  CHECK(matches(index, first, 95, 3) == Counts{0, 9, 4});
  CHECK(matches(index, {{{9, 0, 95}}}, 95, 3) == Counts{0, 0, 0});
}

TEST_CASE("nothing is known of a prompt without content, and only so many blocks and tokens are looked at") {
  auto options = blocks_of(10);
  options.most_blocks = 5;
  PrefixIndex index(options, 1);
  std::int64_t total = 0;
  CHECK(matches(index, {}, 95, 1, &total) == Counts{0});
  CHECK(total == 5);
  index.add(0);
  CHECK(matches(index, {}, 95, 1) == Counts{0});
  options.most_tokens = 30;
  PrefixIndex shorter(options, 1);
  matches(shorter, {{{1, 0, 95}}}, 95, 1, &total);
  CHECK(total == 3);
  shorter.add(0);
  CHECK(matches(shorter, {{{1, 0, 95}}}, 95, 1) == Counts{3});
}

TEST_CASE("the least recently sent blocks are forgotten, for each endpoint by itself") {
  PrefixIndex index(blocks_of(10, 4), 2);
  const auto prompt = [](std::uint64_t id) { return Content{{{id, 0, 20}}}; };
  for (const std::uint64_t id : {1, 2}) {
    matches(index, prompt(id), 20, 2);
    index.add(0);
  }
  matches(index, prompt(1), 20, 2);
  index.add(0);  // used again: 2 is the older one now
  matches(index, prompt(3), 20, 2);
  index.add(0);
  CHECK(matches(index, prompt(1), 20, 2) == Counts{2, 0});
  CHECK(matches(index, prompt(2), 20, 2) == Counts{0, 0});
  CHECK(matches(index, prompt(3), 20, 2) == Counts{2, 0});
}

TEST_CASE("the index agrees with lists that are searched from end to end") {
  constexpr std::size_t kEndpoints = 4;
  constexpr std::size_t kCapacity = 12;
  PrefixIndex index(blocks_of(8, kCapacity), kEndpoints);
  // A block is named by the prompt's family and how many of its tokens come before it.
  using Name = std::pair<std::uint64_t, std::int64_t>;
  std::vector<std::vector<Name>> oldest_first(kEndpoints);
  RandomStream random(5, "prefix index");
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t family = 1 + random.below(6);
    const auto tokens = static_cast<std::int64_t>(8 * (1 + random.below(6)));
    Counts expected(kEndpoints, 0);
    for (std::int64_t at = 0; at < tokens; at += 8) {
      bool any = false;
      for (std::size_t e = 0; e < kEndpoints; ++e) {
        const bool has = std::count(oldest_first[e].begin(), oldest_first[e].end(), Name(family, at)) > 0;
        expected[e] += has;
        any = any || has;
      }
      if (!any) break;
    }
    REQUIRE(matches(index, {{{family, 0, tokens}}}, tokens, kEndpoints) == expected);
    const auto to = static_cast<std::uint32_t>(random.below(kEndpoints));
    index.add(to);
    auto& list = oldest_first[to];
    for (std::int64_t at = 0; at < tokens; at += 8) {
      std::erase(list, Name(family, at));
      list.emplace_back(family, at);
      if (list.size() > kCapacity) list.erase(list.begin());
    }
  }
}
