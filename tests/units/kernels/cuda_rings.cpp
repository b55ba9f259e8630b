// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "kernels/cuda/ring.h"

// The kernels' barriers, played through in random order on a model of mbarrier: nobody may wait for ever, and nobody
// may read a stage before it is filled or fill it before it is read.
namespace {

using poolcast::cuda::RingPosition;

struct Barrier {
  explicit Barrier(int arrivals) : expected(arrivals), pending(arrivals) {}
  void arrive() {
    REQUIRE(pending > 0);  // an arrival too many in a phase
    if (--pending == 0) {
      pending = expected;
      phase ^= 1u;
    }
  }
  /// mbarrier.try_wait.parity: whether the phase of this parity has completed, the one before the first counts as odd.
  bool passed(std::uint32_t parity) const { return phase != parity; }
  int expected, pending;
  std::uint32_t phase = 0;
};

/// Steps one role by one action if it can; the role is done when `done`.
struct Role {
  std::function<bool()> step;  // false: has to wait
  std::function<bool()> done;
};

/// Lets roles act in random order. False when all that are not done have to wait.
bool play(std::vector<Role>& roles, unsigned seed) {
  std::mt19937 random(seed);
  while (true) {
    std::vector<Role*> open;
    for (Role& role : roles)
      if (!role.done()) open.push_back(&role);
    if (open.empty()) return true;
    bool moved = false;
    for (std::size_t tries = open.size(); tries > 0 && !moved; --tries) {
      std::swap(open[random() % tries], open[tries - 1]);
      moved = open[tries - 1]->step();
    }
    if (!moved) return false;
  }
}

struct Ring {
  Ring(int stages, int readers) : held(static_cast<std::size_t>(stages), -1) {
    for (int i = 0; i < stages; ++i) {
      full.emplace_back(1);
      empty.emplace_back(readers);
    }
  }
  std::uint32_t stages() const { return static_cast<std::uint32_t>(held.size()); }
  std::vector<Barrier> full, empty;
  std::vector<int> held;  // number of the item in each stage
};

/// Fills items 0 to count - 1, each only after the stage's last item was released by all readers.
Role producer(Ring& ring, int count, bool wrong_parity = false) {
  auto at = std::make_shared<RingPosition>();
  auto item = std::make_shared<int>(0);
  return {[=, &ring] {
            const std::uint32_t parity = wrong_parity ? at->full_parity() : at->empty_parity();
            if (!ring.empty[at->stage].passed(parity)) return false;
            ring.held[at->stage] = (*item)++;
            ring.full[at->stage].arrive();
            at->advance(ring.stages());
            return true;
          },
          [=] { return *item == count; }};
}

/// Reads items in order and releases each one `lag` items later, as a warp with a multiplication in flight does.
Role consumer(Ring& ring, int count, int lag) {
  auto at = std::make_shared<RingPosition>();
  auto release = std::make_shared<RingPosition>();
  auto item = std::make_shared<int>(0), released = std::make_shared<int>(0);
  return {[=, &ring] {
            if (*item - *released > lag || (*item == count && *released < count)) {
              REQUIRE(ring.held[release->stage] == *released);  // still there
              ring.empty[release->stage].arrive();
              release->advance(ring.stages());
              ++*released;
              return true;
            }
            if (!ring.full[at->stage].passed(at->full_parity())) return false;
            REQUIRE(ring.held[at->stage] == (*item)++);
            at->advance(ring.stages());
            return true;
          },
          [=] { return *released == count; }};
}

TEST_CASE("the product's ring of stages neither stops nor overwrites what eight warps still read") {
  for (int stages : {2, 4, 6}) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      Ring ring(stages, 8);
      std::vector<Role> roles = {producer(ring, 37)};
      for (int warp = 0; warp < 8; ++warp) roles.push_back(consumer(ring, 37, 1));
      INFO("stages " << stages << " seed " << seed);
      REQUIRE(play(roles, seed));
    }
  }
}

TEST_CASE("the model of the barriers notices a producer that waits on the wrong parity") {
  Ring ring(4, 8);
  std::vector<Role> roles = {producer(ring, 37, true)};
  for (int warp = 0; warp < 8; ++warp) roles.push_back(consumer(ring, 37, 1));
  CHECK_FALSE(play(roles, 1));
}

/// One thread that fills K and V in turn, eight warps that take K of tile t before V of tile t - 1.
TEST_CASE("the attention's two rings do not wait for each other for ever") {
  constexpr int kTiles = 9, kStages = 2;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Ring keys(kStages, 8), values(kStages, 8);
    auto fill = std::make_shared<int>(0);
    std::vector<Role> both = {producer(keys, kTiles), producer(values, kTiles)};
    std::vector<Role> roles = {{[=] {
                                  const bool moved = both[static_cast<std::size_t>(*fill % 2)].step();
                                  *fill += moved;
                                  return moved;
                                },
                                [=] { return *fill == 2 * kTiles; }}};
    for (int warp = 0; warp < 8; ++warp) {
      // Script of a warp: wait K0, release K0, then for each tile t: wait K t, wait V t-1, release K t, release V t-1;
      // at the end wait V of the last tile, which nobody needs released.
      auto k = std::make_shared<RingPosition>(), v = std::make_shared<RingPosition>();
      auto at = std::make_shared<int>(0);
      const auto wait = [at](Ring& ring, RingPosition& position, int item) {
        if (!ring.full[position.stage].passed(position.full_parity())) return false;
        REQUIRE(ring.held[position.stage] == item);
        ++*at;
        return true;
      };
      const auto release = [at](Ring& ring, RingPosition& position, int item) {
        REQUIRE(ring.held[position.stage] == item);
        ring.empty[position.stage].arrive();
        position.advance(kStages);
        ++*at;
        return true;
      };
      roles.push_back({[=, &keys, &values] {
                         if (*at == 0) return wait(keys, *k, 0);
                         if (*at == 1) return release(keys, *k, 0);
                         const int tile = (*at - 2) / 4 + 1, action = (*at - 2) % 4;
                         if (tile == kTiles) return wait(values, *v, kTiles - 1);
                         if (action == 0) return wait(keys, *k, tile);
                         if (action == 1) return wait(values, *v, tile - 1);
                         return action == 2 ? release(keys, *k, tile) : release(values, *v, tile - 1);
                       },
                       [=] { return *at == 2 + 4 * (kTiles - 1) + 1; }});
    }
    INFO("seed " << seed);
    REQUIRE(play(roles, seed));
  }
}

/// Blackwell: copies -> multiplications (one thread) -> accumulators -> four warps that carry them out.
TEST_CASE("stages and accumulators of the tensor-memory product pass through one another") {
  constexpr int kTiles = 7, kSteps = 5;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Ring stages(4, 1), accumulators(2, 4);
    auto at = std::make_shared<RingPosition>(), accumulator = std::make_shared<RingPosition>();
    auto step = std::make_shared<int>(0);
    const Role multiply = {
        [=, &stages, &accumulators] {
          if (*step % kSteps == 0 && !accumulators.empty[accumulator->stage].passed(accumulator->empty_parity()))
            return false;
          if (!stages.full[at->stage].passed(at->full_parity())) return false;
          REQUIRE(stages.held[at->stage] == *step);
          stages.empty[at->stage].arrive();  // tcgen05.commit
          at->advance(4);
          if (++*step % kSteps == 0) {
            accumulators.held[accumulator->stage] = *step / kSteps - 1;
            accumulators.full[accumulator->stage].arrive();  // tcgen05.commit
            accumulator->advance(2);
          }
          return true;
        },
        [=] { return *step == kTiles * kSteps; }};
    std::vector<Role> roles = {producer(stages, kTiles * kSteps), multiply};
    for (int warp = 0; warp < 4; ++warp) roles.push_back(consumer(accumulators, kTiles, 0));
    INFO("seed " << seed);
    REQUIRE(play(roles, seed));
  }
}

}  // namespace
