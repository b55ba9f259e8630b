// SPDX-License-Identifier: Apache-2.0
#include "kernels/memory.h"

#include <emmintrin.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

namespace poolcast::kernels {
namespace {

constexpr std::size_t kLine = 64, kHugePage = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

}  // namespace

/// Blocks follow each other in chunks of whole huge pages, with a line between them that the address sanitizer guards.
void* Memory::take_bytes(std::size_t bytes) {
  const std::size_t size = rounded_up(bytes, kLine) + kLine;
  if (chunks_.empty() || chunks_.back().used + size > chunks_.back().size) add_chunk(rounded_up(size, kHugePage));
  Chunk& chunk = chunks_.back();
  std::byte* const block = chunk.at + chunk.used;
  chunk.used = std::min(chunk.used + size + kLine, chunk.size);
  ASAN_UNPOISON_MEMORY_REGION(block, bytes + kLine);
  std::memset(block, 0, bytes + kLine);
  return block;
}

void Memory::add_chunk(std::size_t size) {
  auto* const at = static_cast<std::byte*>(std::aligned_alloc(kHugePage, size));
  if (!at) throw std::bad_alloc();
  madvise(at, size, MADV_HUGEPAGE);  // refused: small pages do
  ASAN_POISON_MEMORY_REGION(at, size);
  chunks_.push_back({at, size, 0});
}

Memory::~Memory() {
  for (const Chunk& chunk : chunks_) {
    ASAN_UNPOISON_MEMORY_REGION(chunk.at, chunk.size);
    std::free(chunk.at);
  }
}

void Memory::evict() const {
  for (const Chunk& chunk : chunks_)
    for (std::size_t at = 0; at < chunk.used; at += kLine) _mm_clflush(chunk.at + at);
  _mm_mfence();
}

/// Asked of the kernel: the C library adds up the caches of all sockets.
std::int64_t bytes_that_empty_caches() {
  std::int64_t last = std::int64_t{16} << 20;
  for (const char index : {'2', '3', '4'}) {
    std::ifstream file(std::string("/sys/devices/system/cpu/cpu0/cache/index") + index + "/size");
    std::int64_t kilobytes = 0;
    if (file >> kilobytes) last = std::max(last, kilobytes << 10);
  }
  return 4 * last;
}

}  // namespace poolcast::kernels
