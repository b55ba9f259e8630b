// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulation/emulation.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "tests/cuda/emulation/tensors.h"

namespace poolcast::emulation {

Index thread_index, block_index;
Dim block_size, grid_size;
int warp_lanes = 32;

namespace {

constexpr std::size_t kStack = 128 << 10;
constexpr std::uint32_t kFirstAddress = 1040;  // 16-byte aligned, not 1,024
constexpr unsigned kStall = 150;               // rounds that a warp may sleep
constexpr int kPatience = 200'000;             // rounds in which nobody advances

struct Fiber {
  ucontext_t context;  // where it starts; from then on the switches are jumps, which ask nothing of the kernel
  jmp_buf at;
  bool started = false;
  Index index;
  bool done = false;
};

struct Rendezvous {
  int arrived = 0;
  std::uint64_t generation = 0;
  std::uint64_t slots[2][64] = {};
};

struct Barrier {
  int expected = 0, pending = 0, bytes = 0;
  std::uint32_t phase = 0;
};

struct Block {
  std::vector<Fiber> fibers;
  std::map<std::pair<Meeting, int>, Rendezvous> meetings;
  std::map<std::uint32_t, Barrier> barriers;
  std::vector<std::function<void()>> deliveries;
  std::deque<std::function<void()>> queue;
  std::vector<unsigned char> shared;
  std::vector<float> tensor = std::vector<float>(128 * 512, 0.0f / 0.0f);
  bool advanced = false;
};

Block* block;
Fiber* running;
jmp_buf scheduler;
const std::function<void()>* body_of_threads;
std::mt19937 chance(1);

void enter() {
  (*body_of_threads)();
  running->done = true;
  block->advanced = true;
  _longjmp(scheduler, 1);
}

/// Returns when the fiber has yielded or is done.
void run(Fiber& fiber) {
  running = &fiber;
  thread_index = fiber.index;
  if (_setjmp(scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.at, 1);
  fiber.started = true;
  setcontext(&fiber.context);
}

/// Thread `i` of every block starts on the same stack: fresh memory would cost more than the kernels.
unsigned char* stack_of(std::size_t i) {
  static std::vector<std::unique_ptr<unsigned char[]>> stacks;
  while (stacks.size() <= i) stacks.emplace_back(new unsigned char[kStack]);
  return stacks[i].get();
}

void start(Fiber& fiber, unsigned char* stack) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack;
  fiber.context.uc_stack.ss_size = kStack;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, enter, 0);
}

/// The hardware does one thing that is due, or nothing: rarely, so that all is late.
void hardware_turn() {
  if (!block->deliveries.empty() && chance() % 4 == 0) {
    std::swap(block->deliveries[chance() % block->deliveries.size()], block->deliveries.back());
    const auto action = std::move(block->deliveries.back());
    block->deliveries.pop_back();
    action();
    block->advanced = true;
  }
  if (!block->queue.empty() && chance() % 4 == 0) {
    const auto action = std::move(block->queue.front());
    block->queue.pop_front();
    action();
    block->advanced = true;
  }
}

void run_block(Dim size, std::size_t shared_bytes) {
  Block own;
  block = &own;
  begin_block();
  own.shared.assign(shared_bytes, 0x7f);
  own.fibers.resize(std::size_t{size.x} * size.y * size.z);
  std::vector<Fiber*> open;
  for (std::size_t i = 0; i < own.fibers.size(); ++i) {
    const auto n = static_cast<unsigned>(i);
    own.fibers[i].index = {n % size.x, n / size.x % size.y, n / size.x / size.y};
    start(own.fibers[i], stack_of(i));
    open.push_back(&own.fibers[i]);
  }
  const auto lanes = static_cast<std::size_t>(warp_lanes);
  std::vector<unsigned> awake_at((own.fibers.size() + lanes - 1) / lanes);  // of each warp, the round
  unsigned round = 0;
  for (int idle = 0; !open.empty(); ++round) {
    own.advanced = false;
    if (chance() % 30 == 0) awake_at[chance() % awake_at.size()] = round + chance() % kStall;
    const bool all_awake = std::all_of(awake_at.begin(), awake_at.end(), [=](unsigned at) { return at <= round; });
    std::rotate(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(chance() % open.size()), open.end());
    for (Fiber* fiber : open) {
      if (awake_at[static_cast<std::size_t>(fiber - own.fibers.data()) / lanes] > round) continue;
      run(*fiber);
      if (chance() % 64 == 0) hardware_turn();
    }
    hardware_turn();
    open.erase(std::remove_if(open.begin(), open.end(), [](const Fiber* one) { return one->done; }), open.end());
    idle = own.advanced || !all_awake ? 0 : idle + 1;
    if (idle > 100 && own.deliveries.empty() && own.queue.empty()) fault("nobody in the block can go on");
    if (idle > kPatience) fault("nobody in the block goes on");
  }
  if (!own.deliveries.empty() || !own.queue.empty()) fault("the block ended before what it had asked for");
  end_block();
}

Rendezvous& meeting_of(Meeting kind, int& size) {
  const int threads = static_cast<int>(block->fibers.size());
  size = kind == Meeting::kBlock ? threads : kind == Meeting::kWarpgroup ? 128 : std::min(warp_lanes, threads);
  return block->meetings[{kind, linear_thread() / size}];
}

}  // namespace

int linear_thread() {
  return static_cast<int>(thread_index.x + block_size.x * (thread_index.y + block_size.y * thread_index.z));
}

void launch(Dim grid, Dim size, std::size_t shared_bytes, const std::function<void()>& body) {
  grid_size = grid;
  block_size = size;
  body_of_threads = &body;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        block_index = {x, y, z};
        run_block(size, shared_bytes);
      }
}

void fault(const char* what) {
  std::fprintf(stderr, "emulation: %s (block %u %u %u, thread %d)\n", what, block_index.x, block_index.y, block_index.z,
               linear_thread());
  std::_Exit(1);
}

void yield() {
  if (_setjmp(running->at) == 0) _longjmp(scheduler, 1);
}

void wait_until(const std::function<bool()>& ready) {
  while (!ready()) yield();
  block->advanced = true;
}

void meet(Meeting kind, const std::function<void()>& action) {
  int size = 0;
  Rendezvous& here = meeting_of(kind, size);
  const std::uint64_t generation = here.generation;
  if (++here.arrived == size) {
    if (action) action();
    here.arrived = 0;
    ++here.generation;
    block->advanced = true;
  } else {
    wait_until([&] { return here.generation != generation; });
  }
}

const std::uint64_t* exchange(std::uint64_t own) {
  int size = 0;
  Rendezvous& here = meeting_of(Meeting::kWarp, size);
  std::uint64_t* slots = here.slots[here.generation % 2];
  slots[linear_thread() % warp_lanes] = own;
  meet(Meeting::kWarp);
  return slots;
}

void later(bool in_order, std::function<void()> action) {
  if (in_order) {
    block->queue.push_back(std::move(action));
  } else {
    block->deliveries.push_back(std::move(action));
  }
}

unsigned char* shared_memory() { return block->shared.data(); }

std::uint32_t address_of(const void* pointer) {
  const auto offset = static_cast<const unsigned char*>(pointer) - block->shared.data();
  if (offset < 0 || offset > static_cast<std::ptrdiff_t>(block->shared.size())) fault("no shared memory");
  return kFirstAddress + static_cast<std::uint32_t>(offset);
}

unsigned char* at_address(std::uint32_t address, std::size_t bytes) {
  if (address < kFirstAddress || address - kFirstAddress + bytes > block->shared.size()) fault("outside shared memory");
  return block->shared.data() + (address - kFirstAddress);
}

void barrier_init(std::uint32_t address, int arrivals) {
  at_address(address, 8);
  block->barriers[address] = {arrivals, arrivals, 0, 0};
}

static Barrier& barrier_at(std::uint32_t address) {
  const auto found = block->barriers.find(address);
  if (found == block->barriers.end()) fault("a barrier that nobody has set up");
  return found->second;
}

static void complete(Barrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  barrier.pending = barrier.expected;
  barrier.phase ^= 1u;
  block->advanced = true;
}

void barrier_arrive(std::uint32_t address, int bytes_to_come) {
  Barrier& barrier = barrier_at(address);
  if (barrier.pending == 0) fault("an arrival too many at a barrier");
  barrier.bytes += bytes_to_come;
  --barrier.pending;
  complete(barrier);
}

void barrier_bytes(std::uint32_t address, int bytes) {
  Barrier& barrier = barrier_at(address);
  barrier.bytes -= bytes;
  if (barrier.bytes < 0 && barrier.pending == 0) fault("more bytes than announced at a barrier");
  complete(barrier);
}

bool barrier_passed(std::uint32_t address, std::uint32_t parity) { return barrier_at(address).phase != parity; }

float* tensor_memory() { return block->tensor.data(); }

}  // namespace poolcast::emulation
