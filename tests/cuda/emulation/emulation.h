// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

/// Runs the source of CUDA kernels on the CPU: each thread of a block is a fiber, and the few instructions that C++ has
/// no words for (the folder kernels/cuda beside this) do what the PTX ISA says they do. Fibers, deliveries of the copy
/// engine and multiplications in flight take turns in random order, as late as the rules allow, and now and then a warp
/// sleeps: a stage that is released too early, a wait on the wrong parity or a wrong index gives a wrong result or a
/// block in which nobody can go on, which ends the program with a message. Blocks run one after the other. Timing means
/// nothing here. tests/hip runs AMD's kernels by the same fibers.
namespace poolcast::emulation {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
struct Dim {
  constexpr Dim(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  unsigned x, y, z;
};

/// Of the fiber that runs.
extern Index thread_index, block_index;
extern Dim block_size, grid_size;
int linear_thread();

/// Lanes of a warp, at most 64: 32 unless a program of another device sets it.
extern int warp_lanes;

/// Runs `body` once for each thread of each block, with `shared_bytes` of dynamic shared memory.
void launch(Dim grid, Dim block, std::size_t shared_bytes, const std::function<void()>& body);

/// Ends the program: the kernel broke a rule.
[[noreturn]] void fault(const char* what);

/// Lets others run; returns some time later.
void yield();
/// Yields until `ready` holds.
void wait_until(const std::function<bool()>& ready);

/// All `count` threads of group `group` of kind `kind` meet; the last to come runs `action` before anyone goes on.
enum class Meeting { kBlock, kWarpgroup, kWarp };
void meet(Meeting kind, const std::function<void()>& action = {});

/// 64 bits of each lane of the warp, after all lanes have given theirs.
const std::uint64_t* exchange(std::uint64_t own);

/// Something that the hardware does some time later: `in_order` after all others in order, otherwise at any time.
void later(bool in_order, std::function<void()> action);

/// Dynamic shared memory and its addresses, which begin at an odd multiple of 16 bytes.
unsigned char* shared_memory();
std::uint32_t address_of(const void* pointer);
unsigned char* at_address(std::uint32_t address, std::size_t bytes);

/// mbarriers by address.
void barrier_init(std::uint32_t address, int arrivals);
void barrier_arrive(std::uint32_t address, int bytes_to_come);
void barrier_bytes(std::uint32_t address, int bytes);
bool barrier_passed(std::uint32_t address, std::uint32_t parity);

/// Accumulators of tcgen05, [128][512]; NaN when a block begins.
float* tensor_memory();

}  // namespace poolcast::emulation
