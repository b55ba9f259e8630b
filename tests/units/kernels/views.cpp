// SPDX-License-Identifier: Apache-2.0
// What transformers do without copies: heads out of rows that hold Q, K and V, and sums in place.
#include <catch2/catch.hpp>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/moves/kv_store.h"
#include "kernels/random.h"
#include "kernels/rows/rows.h"

using namespace poolcast::kernels;

namespace {

std::vector<Bf16> random_numbers(std::int64_t count) {
  std::vector<Bf16> numbers(static_cast<std::size_t>(count));
  Random(3).fill(numbers.data(), count);
  return numbers;
}

bool equal(const std::vector<Bf16>& a, const std::vector<Bf16>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](Bf16 x, Bf16 y) { return x.bits == y.bits; });
}

void rotate(bool native, const RotaryTask& task, Team& team) {
  native ? avx512_rotary(task, 0, task.tokens) : portable_rotary(task, team);
}

std::vector<bool> implementations() {
  if (why_no_avx512().empty()) return {false, true};
  return {false};
}

constexpr std::int64_t kTokens = 5, kHeads = 3, kDim = 20, kWidth = kHeads * kDim, kRow = 100;

}  // namespace

TEST_CASE("rotary embeddings read heads out of wider rows") {
  Team team(1);
  const std::vector<Bf16> rows = random_numbers(kTokens * kRow);
  std::vector<Bf16> packed;
  for (std::int64_t t = 0; t < kTokens; ++t)
    packed.insert(packed.end(), rows.begin() + t * kRow, rows.begin() + t * kRow + kWidth);
  const std::vector<float> turns(kTokens * kDim, 0.7f);
  for (const bool native : implementations()) {
    std::vector<Bf16> from_packed(packed.size()), from_rows(packed.size());
    rotate(native, {packed.data(), from_packed.data(), turns.data(), kTokens, kHeads, kDim, true, kWidth}, team);
    rotate(native, {rows.data(), from_rows.data(), turns.data(), kTokens, kHeads, kDim, true, kRow}, team);
    CHECK(equal(from_packed, from_rows));
    CHECK_FALSE(equal(from_packed, packed));
  }
}

TEST_CASE("a store of K and V reads them out of wider rows and writes no slot but its own") {
  Team team(1);
  const std::vector<Bf16> rows = random_numbers(kTokens * kRow);
  const auto* const from = reinterpret_cast<const char*>(rows.data());
  const std::vector<std::int64_t> slots = {7, 0, 11, 3, 4};
  constexpr std::int64_t kBlock = 4, kHeadBytes = 2 * kDim, kRowBytes = 2 * kRow;
  for (const KvStoreFunction store : {portable_kv_store, native_kv_store}) {
    if (store == native_kv_store && !why_no_avx512().empty()) continue;
    std::vector<Bf16> k(3 * kBlock * 2 * kDim), v = k;  // three blocks, two heads
    const KvStoreTask task{from,
                           from + 2 * kHeadBytes,
                           kRowBytes,
                           kRowBytes,
                           reinterpret_cast<char*>(k.data()),
                           reinterpret_cast<char*>(v.data()),
                           slots.data(),
                           kTokens,
                           2,
                           kBlock,
                           kHeadBytes};
    store(task, team);
    std::vector<Bf16> wanted_k(k.size()), wanted_v(v.size());
    for (std::int64_t t = 0; t < kTokens; ++t)
      for (std::int64_t head = 0; head < 2; ++head) {
        const std::int64_t slot = slots[static_cast<std::size_t>(t)];
        const std::int64_t to = ((slot / kBlock * 2 + head) * kBlock + slot % kBlock) * kDim;
        std::copy_n(rows.begin() + t * kRow + head * kDim, kDim, wanted_k.begin() + to);
        std::copy_n(rows.begin() + t * kRow + (2 + head) * kDim, kDim, wanted_v.begin() + to);
      }
    CHECK(equal(k, wanted_k));
    CHECK(equal(v, wanted_v));
  }
}

TEST_CASE("a residual addition may write over either of its terms") {
  Team team(1);
  const std::vector<Bf16> x = random_numbers(3 * 37), y(x.rbegin(), x.rend());
  for (const bool native : implementations()) {
    const auto add = [&](const std::vector<Bf16>& a, const std::vector<Bf16>& b, std::vector<Bf16>& out) {
      const RowTask task{a.data(), out.data(), nullptr, nullptr, 3, 37, true, b.data()};
      native ? avx512_residual_add(task, 0, 3) : portable_residual_add(task, team);
    };
    std::vector<Bf16> sum(x.size()), over_x = x, over_y = y;
    add(x, y, sum);
    add(over_x, y, over_x);
    add(x, over_y, over_y);
    CHECK(equal(sum, over_x));
    CHECK(equal(sum, over_y));
  }
}
