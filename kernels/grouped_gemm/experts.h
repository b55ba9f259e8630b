// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "kernels/gemm/panel_weight.h"
#include "kernels/gemm/weight.h"
#include "kernels/grouped_gemm/grouped_case.h"

namespace poolcast::kernels {

/// The constant weights of all experts of a layer, in the layout of one implementation.
class Experts {
 public:
  virtual ~Experts() = default;

  /// c[row] = tokens[token_of[row]] times the weight of the row's expert. `tokens` in rows of k elements without gaps,
  /// c in rows of n. Not for two threads at once.
  virtual void multiply(const void* tokens, const Routing& routing, void* c, Team& team) = 0;
};

struct ExpertsShape {
  WeightShape weight;
  std::int64_t experts = 0;
};

/// One product after the other, by an implementation of the GEMM, each on rows that are gathered before it: what a
/// library without a grouped product is used for.
class LoopedExperts final : public Experts {
 public:
  LoopedExperts(const ExpertsShape& shape, MakeWeight make, const void* weights, Memory& memory);
  void multiply(const void* tokens, const Routing& routing, void* c, Team& team) override;

 private:
  ExpertsShape shape_;
  std::vector<std::unique_ptr<Weight>> weights_;
  std::vector<char> gathered_;
};

/// All products at once, by packed panels: rows are gathered while they are packed, once, and the parts of all experts
/// are spread over the threads together.
class PanelExperts final : public Experts {
 public:
  PanelExperts(const ExpertsShape& shape, const PanelFormat& format, const void* weights, Memory& memory);
  void multiply(const void* tokens, const Routing& routing, void* c, Team& team) override;

 private:
  ExpertsShape shape_;
  std::vector<PanelWeight> weights_;
  std::vector<std::uint32_t> packed_;
};

}  // namespace poolcast::kernels
