// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace poolcast::routing {

/// Memory for one Lua state at addresses whose lower halves are the same in every run. Lua hashes a table or function
/// that is a key by its address; what collides then decides when a table grows, and that can be seen.
///
/// Blocks come in sizes of 16 bytes each up to 1 KiB, then in powers of two; a freed block serves its size again.
class LuaArena {
 public:
  /// Reserves address space, of which only what is used takes memory. Throws std::bad_alloc.
  explicit LuaArena(std::size_t bytes);
  ~LuaArena();
  LuaArena(const LuaArena&) = delete;
  LuaArena& operator=(const LuaArena&) = delete;

  void* allocate(std::size_t size);  ///< null when the arena is full; size > 0
  void release(void* block, std::size_t size);
  /// Keeps the bytes that both sizes have; null, and the old block as it was, when the arena is full.
  void* resize(void* block, std::size_t old_size, std::size_t size);

 private:
  static constexpr std::size_t kStep = 16, kSmall = 1024, kClasses = kSmall / kStep + 48;
  static std::size_t class_of(std::size_t size);
  static std::size_t class_size(std::size_t index);

  std::size_t size_;
  std::byte* begin_ = nullptr;
  std::byte* unused_ = nullptr;  ///< from here on nothing was handed out
  std::array<void*, kClasses> free_{};
};

}  // namespace poolcast::routing
