// SPDX-License-Identifier: Apache-2.0
#include "sim/replications.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <vector>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "sim/random.h"

namespace poolcast {

std::uint64_t replication_seed(std::uint64_t seed, std::int64_t index) {
  if (index == 0) return seed;
  return RandomStream(seed, "replication", static_cast<std::uint64_t>(index)).next() >> 1;
}

void replicate(std::int64_t count, int threads, const std::function<void(std::int64_t)>& work,
               const std::function<void(std::int64_t)>& done) {
  std::vector<std::exception_ptr> faults(static_cast<std::size_t>(count));
  std::mutex one_at_a_time;
  std::int64_t ended = 0;
  const auto one = [&](std::int64_t i) {
    try {
      work(i);
    } catch (...) {
      faults[static_cast<std::size_t>(i)] = std::current_exception();
    }
    const std::lock_guard lock(one_at_a_time);
    ++ended;
    if (done) done(ended);
  };
  const int most = tbb::info::default_concurrency();  // the library warns on stderr when it is asked for more
  tbb::task_arena arena(threads > 0 ? std::min(threads, most) : most);
  arena.execute([&] { tbb::parallel_for(std::int64_t{0}, count, one, tbb::simple_partitioner()); });
  for (const std::exception_ptr& fault : faults) {
    if (fault) std::rethrow_exception(fault);
  }
}

}  // namespace poolcast
