// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "models/units.h"

namespace poolcast::kernels {

/// A fixed number of threads, each pinned to a CPU of its own (oneTBB); the calling thread is one of them and is pinned
/// as long as the team lives. With one thread everything runs in the caller, without oneTBB. Make and use a team on one
/// thread.
class Team {
 public:
  /// 1 to usable_cpus() threads; more are cut to that.
  explicit Team(int threads = 1);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  /// Calls body(i) once for each i in [0, parts), spread over the threads, and returns when all are done. Parts must
  /// not wait for each other. Order and thread of a part are not fixed, so results must not depend on them.
  void parallel(std::int64_t parts, const std::function<void(std::int64_t part)>& body);

  /// CPU time that a thread has spent inside parts since the last reset, maximum over the threads; waiting is not
  /// counted. Zero with one thread.
  Seconds worker_busy() const;
  void reset_busy();

 private:
  struct Workers;
  int size_;
  std::unique_ptr<Workers> workers_;
};

/// CPUs that this process may run on.
int usable_cpus();

}  // namespace poolcast::kernels
