// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace poolcast::kernels {

/// The memory of one prepared kernel: what it holds is known, so that it can be evicted from the caches as a whole.
class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// `count` elements, zero, at a multiple of 64 bytes (2 MiB, on huge pages, for large ones), followed by 64 bytes
  /// that may be read. Throws std::bad_alloc.
  template <class T>
  T* take(std::int64_t count) {
    return static_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }

  /// Writes back and evicts every line.
  void evict() const;

 private:
  void* take_bytes(std::size_t bytes);
  std::vector<std::span<std::byte>> blocks_;
};

}  // namespace poolcast::kernels
