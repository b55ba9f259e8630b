// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "kernels/kernel.h"
#include "kernels/memory.h"

namespace poolcast::kernels {

/// How an implementation takes part: packs what is constant and returns what a run does. All arguments outlive it.
template <class Case>
using MakeRun = std::function<void()> (*)(Case& data, Memory& memory, Team& team);

/// A prepared kernel of the CPU: the case holds inputs, outputs and the reference of its operation
/// (`Case(problem, seed, memory)`, `poison()`, `error()`), the implementation only the run.
template <class Case>
class Prepared final : public PreparedKernel {
 public:
  Prepared(const KernelProblem& problem, std::uint64_t seed, Team& team, MakeRun<Case> make)
      : case_(problem, seed, memory_), run_(make(case_, memory_, team)) {}

  void run() override { run_(); }
  void poison() override { case_.poison(); }
  double error() override { return case_.error(); }
  void cool() override { memory_.evict(); }

 private:
  Memory memory_;
  Case case_;
  std::function<void()> run_;
};

/// `Kernel::prepare` of an implementation.
template <class Case, MakeRun<Case> make>
std::unique_ptr<PreparedKernel> prepare(const KernelProblem& problem, std::uint64_t seed, Team& team) {
  return std::make_unique<Prepared<Case>>(problem, seed, team, make);
}

/// `Kernel::why_not` of an implementation that can do everything everywhere.
inline std::string never(const KernelProblem&) { return ""; }

}  // namespace poolcast::kernels
