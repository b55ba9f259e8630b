// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/memory.h"
#include "kernels/problem.h"
#include "kernels/threads.h"

namespace poolcast::kernels {

struct WeightShape {
  DType dtype = DType::kBf16;
  std::int64_t n = 0, k = 0;  // outputs, inputs
};

/// A constant weight B[k,n] in the layout of one implementation, to be multiplied with any number of rows.
class Weight {
 public:
  virtual ~Weight() = default;

  /// C[m,n] = A[m,k] B, all in rows without gaps; A in the weight's format, C too (int8: int32). The rows of A are
  /// packed here. Not for two threads at once.
  virtual void multiply(const void* a, std::int64_t m, void* c, Team& team) = 0;

  /// The same in other memory, or nothing where it takes packing anew.
  virtual std::unique_ptr<Weight> copy(Memory& /*memory*/) const { return nullptr; }

  /// Does now what the first product of m rows would do once.
  virtual void expect(std::int64_t /*m*/) {}
};

/// Packs B, given in rows without gaps. What is packed lies in `memory`; an implementation that packs nothing keeps
/// pointing at b.
using MakeWeight = std::unique_ptr<Weight> (*)(const WeightShape& shape, const void* b, Memory& memory);

// Each in the source of its name; why_not says where they run (kernels.h).
std::unique_ptr<Weight> reference_weight(const WeightShape& shape, const void* b, Memory& memory);
std::unique_ptr<Weight> portable_naive_weight(const WeightShape& shape, const void* b, Memory& memory);
std::unique_ptr<Weight> portable_weight(const WeightShape& shape, const void* b, Memory& memory);
std::unique_ptr<Weight> avx512_weight(const WeightShape& shape, const void* b, Memory& memory);
std::unique_ptr<Weight> amx_weight(const WeightShape& shape, const void* b, Memory& memory);
std::unique_ptr<Weight> onednn_weight(const WeightShape& shape, const void* b, Memory& memory);

}  // namespace poolcast::kernels
