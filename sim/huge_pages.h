// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace poolcast {

/// Asks for huge pages for what is large: tables that are read in no order otherwise miss the TLB at nearly every
/// access. Where the system has none to give, nothing changes.
template <class T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr std::size_t kHuge = std::size_t{2} << 20;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kHuge) return static_cast<T*>(::operator new(bytes, std::align_val_t(alignof(T))));
    void* const memory = std::aligned_alloc(kHuge, (bytes + kHuge - 1) / kHuge * kHuge);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kHuge) return ::operator delete(memory, std::align_val_t(alignof(T)));
    std::free(memory);
  }
  friend bool operator==(HugePageAllocator, HugePageAllocator) { return true; }
};

/// A vector of what may grow large and is read in no order.
template <class T>
using LargeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace poolcast
