// SPDX-License-Identifier: Apache-2.0
#include "kernels/threads.h"

// A team of the calling thread alone: devices ask it for nothing, and a lent machine may lack oneTBB.
namespace poolcast::kernels {

struct Team::Workers {};

Team::Team(int) : size_(1) {}
Team::~Team() = default;

void Team::parallel(std::int64_t parts, const std::function<void(std::int64_t part)>& body) {
  for (std::int64_t part = 0; part < parts; ++part) body(part);
}

}  // namespace poolcast::kernels
