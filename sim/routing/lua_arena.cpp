// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/lua_arena.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace poolcast::routing {
namespace {

constexpr std::uintptr_t kLowHalf = 0x10000;  ///< of every arena's address

/// Looks for a free stretch among the addresses that end alike: first far from where programs lie, then, on machines
/// with fewer addresses, below.
void* reserve(std::size_t size) {
  constexpr std::pair<std::uintptr_t, std::uintptr_t> kRanges[] = {{0x2000, 0x7000}, {0x10, 0x2000}};
  for (const auto& [first, last] : kRanges) {
    for (std::uintptr_t high = first; high < last; ++high) {
      auto* const wanted = reinterpret_cast<void*>((high << 32) + kLowHalf);
      void* const got = ::mmap(wanted, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == wanted) return got;
      if (got != MAP_FAILED) ::munmap(got, size);
      if (got == MAP_FAILED && errno == ENOMEM && first == kRanges[0].first) break;  // not for lack of an address
    }
  }
  throw std::bad_alloc();
}

}  // namespace

LuaArena::LuaArena(std::size_t bytes)
    : size_(bytes), begin_(static_cast<std::byte*>(reserve(bytes))), unused_(begin_) {}

LuaArena::~LuaArena() { ::munmap(begin_, size_); }

std::size_t LuaArena::class_of(std::size_t size) {
  if (size <= kSmall) return (size + kStep - 1) / kStep - 1;
  return kSmall / kStep - 1 + static_cast<std::size_t>(std::bit_width((size - 1) / kSmall));
}

std::size_t LuaArena::class_size(std::size_t index) {
  if (index < kSmall / kStep) return (index + 1) * kStep;
  return kSmall << (index + 1 - kSmall / kStep);
}

void* LuaArena::allocate(std::size_t size) {
  const std::size_t index = class_of(size);
  if (index >= kClasses) return nullptr;
  if (void* const block = free_[index]) {
    std::memcpy(&free_[index], block, sizeof(void*));
    return block;
  }
  const std::size_t whole = class_size(index);
  if (whole > size_ - static_cast<std::size_t>(unused_ - begin_)) return nullptr;
  return std::exchange(unused_, unused_ + whole);
}

void LuaArena::release(void* block, std::size_t size) {
  void*& first = free_[class_of(size)];
  std::memcpy(block, &first, sizeof(void*));
  first = block;
}

void* LuaArena::resize(void* block, std::size_t old_size, std::size_t size) {
  if (class_of(old_size) == class_of(size)) return block;
  void* const other = allocate(size);
  if (other == nullptr) return nullptr;
  std::memcpy(other, block, std::min(old_size, size));
  release(block, old_size);
  return other;
}

}  // namespace poolcast::routing
