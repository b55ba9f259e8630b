// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulation/tensors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>

#include "kernels/bf16.h"
#include "kernels/cuda/fragments.h"
#include "tests/cuda/emulation/emulation.h"

namespace poolcast::emulation {
namespace {

std::vector<cuda::TensorShape> shapes;

int element_bytes(cuda::ElementKind kind) {
  return kind == cuda::ElementKind::kBf16 ? 2 : kind == cuda::ElementKind::kInt8 ? 1 : 4;
}

/// The 128-byte swizzle of an address.
std::uint32_t swizzled(std::uint32_t address) { return address ^ ((address >> 7 & 7u) << 4); }

/// Where element (row, k) of an operand lies: the descriptor's start, its offsets, and the swizzle.
std::uint32_t operand_address(std::uint64_t descriptor, bool rows_are_k, int row, int k, int bytes) {
  const auto part = [&](int first) { return static_cast<std::uint32_t>((descriptor >> first & 0x3FFF) << 4); };
  const int contiguous = rows_are_k ? row : k, other = rows_are_k ? k : row;
  const std::uint32_t chunk = rows_are_k ? static_cast<std::uint32_t>(contiguous * bytes / 128) * part(16) : 0;
  const int inside = rows_are_k ? contiguous * bytes % 128 : contiguous * bytes;
  return swizzled(part(0) + chunk + static_cast<std::uint32_t>(other / 8) * part(32) +
                  static_cast<std::uint32_t>(other % 8 * 128 + inside));
}

float bf16_at(std::uint32_t address) {
  kernels::Bf16 x;
  std::memcpy(&x, at_address(address, 2), 2);
  return kernels::to_float(x);
}

struct Pending {
  std::vector<std::vector<Multiplication>> groups = {{}};
};
struct Copies {
  struct One {
    std::uint32_t destination;
    const void* source;
    int bytes;
  };
  std::vector<std::vector<One>> groups = {{}};
};
std::map<int, Pending> multiplications;  // of each thread of the running block; empty whenever a block ends well
std::map<int, Copies> copies;

template <class Sum>
void multiply_now(const std::vector<const Multiplication*>& of_threads) {
  const Multiplication& one = *of_threads[0];
  constexpr bool kIntegers = std::is_same_v<Sum, int>;
  constexpr int kDepth = kIntegers ? 32 : 16, kBytes = kIntegers ? 1 : 2;
  const auto read = [&](std::uint64_t descriptor, bool rows_are_k, int row, int k) -> Sum {
    const std::uint32_t address = operand_address(descriptor, rows_are_k, row, k, kBytes);
    if constexpr (kIntegers) {
      return static_cast<signed char>(*at_address(address, 1));
    } else {
      return bf16_at(address);
    }
  };
  std::vector<Sum> left(64 * kDepth), right(static_cast<std::size_t>(kDepth * one.columns));
  for (int row = 0; row < 64 && one.a_held == nullptr; ++row)
    for (int k = 0; k < kDepth; ++k) left[static_cast<std::size_t>(row * kDepth + k)] = read(one.a, false, row, k);
  if (one.a_held != nullptr) {
    for (int t = 0; t < 128; ++t)
      for (int i = 0; i < 8; ++i) {
        const cuda::Element at = cuda::left_element(t % 32, i / 2);
        const auto bits =
            static_cast<std::uint16_t>(of_threads[static_cast<std::size_t>(t)]->a_held[i / 2] >> (16 * (i % 2)));
        left[static_cast<std::size_t>((t / 32 * 16 + at.row) * kDepth + at.column + i % 2)] =
            static_cast<Sum>(kernels::to_float(kernels::Bf16{bits}));
      }
  }
  for (int k = 0; k < kDepth; ++k)
    for (int n = 0; n < one.columns; ++n)
      right[static_cast<std::size_t>(k * one.columns + n)] = read(one.b, one.b_rows_are_k, n, k);
  std::vector<Sum> sums(static_cast<std::size_t>(64 * one.columns));
  for (int row = 0; row < 64; ++row)
    for (int k = 0; k < kDepth; ++k)
      for (int n = 0; n < one.columns; ++n)
        sums[static_cast<std::size_t>(row * one.columns + n)] +=
            left[static_cast<std::size_t>(row * kDepth + k)] * right[static_cast<std::size_t>(k * one.columns + n)];
  for (int t = 0; t < 128; ++t) {
    const Multiplication& own = *of_threads[static_cast<std::size_t>(t)];
    if (own.a != one.a || own.b != one.b || own.add != one.add) fault("threads of a warpgroup disagree on a wgmma");
    Sum* d = static_cast<Sum*>(own.d);
    for (int i = 0; i < one.columns / 2; ++i) {
      const cuda::Element at = cuda::accumulator_element(t % 32, i);
      const Sum sum = sums[static_cast<std::size_t>((t / 32 * 16 + at.row) * one.columns + at.column)];
      d[i] = own.add ? d[i] + sum : sum;
    }
  }
}

}  // namespace

void begin_block() {
  multiplications.clear();
  copies.clear();
}

void end_block() {
  for (const auto& [thread, pending] : multiplications)
    for (const auto& group : pending.groups)
      if (!group.empty()) fault("the block ended before its multiplications");
  for (const auto& [thread, pending] : copies)
    for (const auto& group : pending.groups)
      if (!group.empty()) fault("the block ended before its copies");
}

const cuda::TensorShape& shape_of(const cuda::TensorMap& map) { return shapes.at(map.words[0]); }

void deliver(std::uint32_t destination, const cuda::TensorShape& shape, std::uint32_t barrier,
             std::vector<int> corner) {
  if (corner.size() != shape.extents.size()) fault("a tensor map with another number of axes");
  if (destination % 1024 != 0 && destination % (static_cast<std::uint32_t>(shape.box[0]) * 8) != 0) {
    fault("a box at an address that is not aligned");
  }
  later(false, [=, &shape] {
    const int bytes = element_bytes(shape.kind);
    const auto row_bytes = shape.box[0] * static_cast<std::uint32_t>(bytes);
    std::uint32_t rows = 1;
    for (std::size_t axis = 1; axis < shape.box.size(); ++axis) rows *= shape.box[axis];
    for (std::uint32_t row = 0; row < rows; ++row) {
      bool inside = true;
      std::uint64_t from = 0;
      std::uint32_t rest = row;
      for (std::size_t axis = 1; axis < shape.box.size(); ++axis) {
        const auto at = static_cast<std::uint64_t>(corner[axis]) + rest % shape.box[axis];
        rest /= shape.box[axis];
        inside = inside && at < shape.extents[axis];
        from += at * shape.strides[axis - 1];
      }
      for (std::uint32_t byte = 0; byte < row_bytes; ++byte) {
        const auto x = static_cast<std::uint64_t>(corner[0]) + byte / static_cast<std::uint32_t>(bytes);
        const bool there = inside && x < shape.extents[0];
        const std::uint64_t column = static_cast<std::uint64_t>(corner[0]) * static_cast<std::uint64_t>(bytes) + byte;
        *at_address(swizzled(destination + row * row_bytes + byte), 1) =
            there ? static_cast<const unsigned char*>(shape.base)[from + column] : 0;
      }
    }
    barrier_bytes(barrier, static_cast<int>(rows * row_bytes));
  });
}

void copy_later(std::uint32_t destination, const void* source, int bytes) {
  if (destination % 16 != 0 || reinterpret_cast<std::uintptr_t>(source) % 16 != 0) fault("cp.async: not aligned");
  copies[linear_thread()].groups.back().push_back({destination, source, bytes});
}
void commit_copies() { copies[linear_thread()].groups.emplace_back(); }
void finish_copies(int pending) {
  auto& groups = copies[linear_thread()].groups;
  while (static_cast<int>(groups.size()) - 1 > pending) {
    for (const Copies::One& one : groups.front()) {
      std::memset(at_address(one.destination, 16), 0, 16);
      std::memcpy(at_address(one.destination, 16), one.source, static_cast<std::size_t>(one.bytes));
    }
    groups.erase(groups.begin());
  }
}

void multiply_later(const Multiplication& one) { multiplications[linear_thread()].groups.back().push_back(one); }
void commit_multiplications() { multiplications[linear_thread()].groups.emplace_back(); }
void finish_multiplications(int pending) {
  const int first = linear_thread() / 128 * 128;
  meet(Meeting::kWarpgroup, [=] {
    auto& groups = multiplications[first].groups;
    while (static_cast<int>(groups.size()) - 1 > pending) {
      for (std::size_t i = 0; i < groups.front().size(); ++i) {
        std::vector<const Multiplication*> of_threads;
        for (int t = 0; t < 128; ++t) of_threads.push_back(&multiplications[first + t].groups.front().at(i));
        of_threads[0]->integers ? multiply_now<int>(of_threads) : multiply_now<float>(of_threads);
      }
      for (int t = 0; t < 128; ++t) {
        auto& own = multiplications[first + t].groups;
        own.erase(own.begin());
      }
    }
  });
}

void tensor_multiply_later(std::uint32_t accumulator, std::uint64_t a, std::uint64_t b, std::uint32_t instruction,
                           std::uint32_t add) {
  later(true, [=] {
    const auto columns = static_cast<int>((instruction >> 17 & 63u) << 3),
               rows = static_cast<int>((instruction >> 24 & 31u) << 4);
    float* tensor = tensor_memory();
    for (int row = 0; row < rows; ++row) {
      float left[16];
      for (int k = 0; k < 16; ++k) left[k] = bf16_at(operand_address(a, false, row, k, 2));
      for (int n = 0; n < columns; ++n) {
        float sum = 0;
        for (int k = 0; k < 16; ++k) sum += left[k] * bf16_at(operand_address(b, false, n, k, 2));
        float& d =
            tensor[(static_cast<int>(accumulator >> 16) + row) * 512 + static_cast<int>(accumulator & 0xFFFF) + n];
        d = add ? d + sum : sum;
      }
    }
  });
}

void tensor_commit_later(std::uint32_t barrier) {
  later(true, [=] { barrier_arrive(barrier, 0); });
}

}  // namespace poolcast::emulation

namespace poolcast::cuda {

TensorMap encode_tensor_map(const TensorShape& shape) {
  const int bytes = emulation::element_bytes(shape.kind);
  if (shape.box[0] * static_cast<std::uint32_t>(bytes) != 128) emulation::fault("a box that does not span 128 bytes");
  if (reinterpret_cast<std::uintptr_t>(shape.base) % 16 != 0) emulation::fault("a tensor that is not aligned");
  for (const std::uint64_t stride : shape.strides)
    if (stride % 16 != 0) emulation::fault("a stride that is no multiple of 16 bytes");
  for (const std::uint32_t extent : shape.box)
    if (extent > 256) emulation::fault("a box of more than 256");
  emulation::shapes.reserve(10'000);
  emulation::shapes.push_back(shape);
  TensorMap map{};
  map.words[0] = emulation::shapes.size() - 1;
  return map;
}

}  // namespace poolcast::cuda
