// SPDX-License-Identifier: Apache-2.0
#include "kernels/memory.h"

#include <emmintrin.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace poolcast::kernels {
namespace {

constexpr std::size_t kLine = 64, kHugePage = std::size_t{2} << 20;

}  // namespace

void* Memory::take_bytes(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kLine;
  const std::size_t size = (bytes + kLine + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, size);
  if (!block) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(block, size, MADV_HUGEPAGE);  // refused: small pages do
  std::memset(block, 0, size);
  blocks_.emplace_back(static_cast<std::byte*>(block), size);
  return block;
}

Memory::~Memory() {
  for (const auto& block : blocks_) std::free(block.data());
}

void Memory::evict() const {
  for (const auto& block : blocks_)
    for (std::size_t at = 0; at < block.size(); at += kLine) _mm_clflush(block.data() + at);
  _mm_mfence();
}

}  // namespace poolcast::kernels
