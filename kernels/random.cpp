// SPDX-License-Identifier: Apache-2.0
#include "kernels/random.h"

#include <algorithm>
#include <numeric>

namespace poolcast::kernels {
namespace {

/// Four numbers from each 64 random bits.
template <class T, class Make>
void fill_by_fours(Random& random, T* out, std::int64_t count, Make make) {
  for (std::int64_t i = 0; i < count; i += 4) {
    const std::uint64_t bits = random.bits();
    const std::int64_t end = std::min<std::int64_t>(4, count - i);
    for (std::int64_t j = 0; j < end; ++j) out[i + j] = make(static_cast<std::uint16_t>(bits >> (16 * j)));
  }
}

float unit(std::uint16_t bits) { return (static_cast<float>(bits) - 32768.0f) / 32768.0f; }

}  // namespace

std::uint64_t Random::bits() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::int64_t Random::below(std::int64_t limit) {
  return static_cast<std::int64_t>((bits() >> 32) * static_cast<std::uint64_t>(limit) >> 32);
}

void Random::fill(float* out, std::int64_t count) { fill_by_fours(*this, out, count, unit); }

void Random::fill(Bf16* out, std::int64_t count) {
  fill_by_fours(*this, out, count, [](std::uint16_t bits) { return to_bf16(unit(bits)); });
}

void Random::fill(std::int8_t* out, std::int64_t count) {
  fill_by_fours(*this, out, count, [](std::uint16_t bits) {
    return static_cast<std::int8_t>(static_cast<int>(bits) * 255 / 65536 - 127);
  });
}

std::vector<std::int32_t> shuffled(std::int64_t count, Random& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = count - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1))]);
  return order;
}

}  // namespace poolcast::kernels
