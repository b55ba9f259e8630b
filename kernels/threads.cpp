// SPDX-License-Identifier: Apache-2.0
#include "kernels/threads.h"

#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <algorithm>
#include <vector>

#include "kernels/timer.h"

namespace poolcast::kernels {
namespace {

std::vector<int> ask_for_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) cpus.push_back(i);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

/// Asked before any team pins its caller.
const std::vector<int>& cpus_of_process() {
  static const std::vector<int> cpus = ask_for_cpus();
  return cpus;
}

void pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);  // refused in some containers; then the system places the thread
}

/// Gives every thread that enters the arena the CPU of its slot, and takes it back when it leaves.
class Pinning : public tbb::task_scheduler_observer {
 public:
  Pinning(tbb::task_arena& arena, const std::vector<int>& cpus) : task_scheduler_observer(arena), cpus_(cpus) {
    observe(true);
  }
  ~Pinning() override { observe(false); }

  void on_scheduler_entry(bool) override {
    const auto slot = static_cast<std::size_t>(std::max(0, tbb::this_task_arena::current_thread_index()));
    pin_this_thread(cpus_[slot % cpus_.size()]);
  }

 private:
  const std::vector<int>& cpus_;
};

}  // namespace

struct Team::Workers {
  explicit Workers(const std::vector<int>& of_process, int threads)
      : cpus(of_process),
        limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads),
        pinning(arena, cpus),
        busy(static_cast<std::size_t>(threads)) {}

  struct alignas(64) Busy {
    Seconds time;
  };

  const std::vector<int>& cpus;
  tbb::global_control limit;
  tbb::task_arena arena;
  Pinning pinning;
  std::vector<Busy> busy;  // by slot; a slot is one thread's while a part runs
};

Team::Team(int threads) : size_(std::clamp(threads, 1, usable_cpus())) {
  const std::vector<int>& cpus = cpus_of_process();
  if (size_ > 1) workers_ = std::make_unique<Workers>(cpus, size_);
  pin_this_thread(cpus.front());
}

Team::~Team() {
  workers_.reset();
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus_of_process()) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

void Team::parallel(std::int64_t parts, const std::function<void(std::int64_t)>& body) {
  if (!workers_ || parts == 1) {
    for (std::int64_t i = 0; i < parts; ++i) body(i);
    return;
  }
  workers_->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, parts, 1),
        [&](const tbb::blocked_range<std::int64_t>& range) {
          const auto slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
          const Seconds before = thread_cpu_now();
          for (std::int64_t i = range.begin(); i < range.end(); ++i) body(i);
          workers_->busy[slot].time += thread_cpu_now() - before;
        },
        tbb::auto_partitioner());
  });
}

Seconds Team::worker_busy() const {
  Seconds most;
  if (workers_)
    for (const Workers::Busy& busy : workers_->busy) most = std::max(most, busy.time);
  return most;
}

void Team::reset_busy() {
  if (!workers_) return;
  for (Workers::Busy& busy : workers_->busy) busy.time = Seconds(0);
}

int usable_cpus() { return static_cast<int>(cpus_of_process().size()); }

}  // namespace poolcast::kernels
