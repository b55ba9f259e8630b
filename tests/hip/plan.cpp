// SPDX-License-Identifier: Apache-2.0
#include "tests/hip/plan.h"

#include <algorithm>
#include <cstdio>

#include "calibration/plan.h"
#include "kernels/hip/kernels.h"

using namespace poolcast;
using namespace poolcast::calibration;

namespace {

/// Of Llama 3.1 8B and of SmolLM2 135M: heads of 128 and of 64.
CurveIdentity identity(std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads, std::int64_t intermediate) {
  CurveIdentity id;
  id.shape.layers = 30;
  id.shape.hidden = hidden;
  id.shape.heads = heads;
  id.shape.kv_heads = kv_heads;
  id.shape.head_dim = hidden / heads;
  id.shape.intermediate = intermediate;
  id.shape.vocab = 49152;
  return id;
}

bool has_kernel(const std::string& text) {
  const auto problem = kernels::parse_problem(text).problem;
  const auto all = hip::hip_kernels();
  return problem && std::any_of(all.begin(), all.end(), [&](const kernels::Kernel& kernel) {
           return kernel.operation == problem->operation && kernel.why_not(*problem).empty();
         });
}

}  // namespace

int shapes_without_kernel() {
  int missing = 0, shapes = 0;
  for (const CurveIdentity& id : {identity(4096, 32, 8, 14336), identity(576, 9, 3, 1536)}) {
    for (const Point& point : make_plan(id, {}).points) {
      ++shapes;
      if (has_kernel(point.problem)) continue;
      ++missing;
      std::printf("no kernel: %s\n", point.problem.c_str());
    }
  }
  std::printf("%d of %d shapes of a calibration without a kernel\n", missing, shapes);
  return missing;
}
