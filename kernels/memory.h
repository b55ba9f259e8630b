// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poolcast::kernels {

/// The memory of one prepared kernel: what it holds is known, so that it can be evicted from the caches as a whole.
class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// `count` elements, zero, at a multiple of 64 bytes, followed by 64 bytes that may be read. On huge pages, small
  /// blocks side by side: a model has many matrices of one or two MB, and on small pages reading them takes almost
  /// twice the time (Zen 4, virtual machine). Throws std::bad_alloc.
  template <class T>
  T* take(std::int64_t count) {
    return static_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }

  /// Writes back and evicts every line.
  void evict() const;

 private:
  struct Chunk {
    std::byte* at;
    std::size_t size, used;
  };
  void* take_bytes(std::size_t bytes);
  void add_chunk(std::size_t size);
  std::vector<Chunk> chunks_;
};

/// After so much has been read or written, the caches hold nothing from before: four times the largest cache of a
/// CPU.
std::int64_t bytes_that_empty_caches();

}  // namespace poolcast::kernels
