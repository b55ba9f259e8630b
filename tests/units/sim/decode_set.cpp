// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/decode_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "sim/random.h"

using namespace poolcast;

namespace {

/// The obvious way: a length per request.
struct Reference {
  std::int64_t block_size;
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> requests;  // id: (tokens, end)

  std::int64_t context() const {
    std::int64_t sum = 0;
    for (const auto& [id, r] : requests) sum += r.first;
    return sum;
  }
  /// Blocks opened `ahead` steps from the next one: the KV cache then holds a whole number of blocks.
  std::int64_t new_blocks(std::int64_t ahead) const {
    return std::count_if(requests.begin(), requests.end(),
                         [&](const auto& r) { return (r.second.first - 1 + ahead) % block_size == 0; });
  }
  std::int64_t steps_to_first_end() const {
    std::int64_t least = INT64_MAX;
    for (const auto& [id, r] : requests) least = std::min(least, r.second - r.first);
    return least;
  }
};

}  // namespace

TEST_CASE("the decode set agrees with a length per request on 20,000 random operations") {
  const std::int64_t block_size = GENERATE(1, 3, 16);
  RequestTable table;
  DecodeSet set(block_size, table, 1);
  Reference reference{block_size, {}};
  RandomStream random(static_cast<std::uint64_t>(block_size), "decode set");
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t choice = random.below(10);
    if (choice < 4 && reference.requests.size() < 40) {
      const RequestId id = table.create();
      SchedulerState& s = table.state(id);
      s.tokens = 1 + static_cast<std::int64_t>(random.below(100));
      s.end_tokens = s.tokens + 1 + static_cast<std::int64_t>(random.below(60));
      s.admission = table.next_admission();
      set.join(id);
      reference.requests[id.value] = {s.tokens, s.end_tokens};
    } else if (choice == 4 && !reference.requests.empty()) {
      const RequestId id(reference.requests.begin()->first);
      set.leave(id);
      REQUIRE(table.state(id).tokens == reference.requests.begin()->second.first);
      reference.requests.erase(id.value);
      table.release(id);
    } else if (!reference.requests.empty()) {
      const std::int64_t first_end = reference.steps_to_first_end();
      REQUIRE(set.steps_to_first_end() == first_end);
      const std::int64_t steps = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(first_end)));
      const auto free = static_cast<std::int64_t>(random.below(60));

      // Blocks of the steps after the first, one by one.
      std::int64_t opened = 0, increment = 0, within = 0;
      for (std::int64_t ahead = 1; ahead < steps; ++ahead) {
        opened += reference.new_blocks(ahead);
        increment += opened;
        if (opened <= free) within = ahead;
      }
      REQUIRE(set.new_blocks(0) == reference.new_blocks(0));
      REQUIRE(set.open_blocks(steps - 1).opened == opened);
      REQUIRE(set.open_blocks(steps - 1).increment == increment);
      REQUIRE(set.steps_within(free, steps - 1) == within);

      // One is held back now and then, in a single step.
      const bool hold = steps == 1 && random.below(3) == 0;
      if (hold) set.hold_back(RequestId(reference.requests.begin()->first));
      set.advance(steps);
      for (auto& [id, r] : reference.requests) r.first += steps;
      if (hold) reference.requests.begin()->second.first -= 1;

      std::vector<RequestId> ended;
      set.take_ended(ended);
      for (const RequestId id : ended) {
        REQUIRE(reference.requests.at(id.value).first == reference.requests.at(id.value).second);
        reference.requests.erase(id.value);
      }
      for (const auto& [id, r] : reference.requests) REQUIRE(r.first < r.second);
      for (std::size_t k = 1; k < ended.size(); ++k) {
        REQUIRE(table.state(ended[k - 1]).admission < table.state(ended[k]).admission);
      }
      for (const RequestId id : ended) table.release(id);
    }
    REQUIRE(set.size() == static_cast<std::int64_t>(reference.requests.size()));
    REQUIRE(set.context() == reference.context());
  }
}
