// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/units.h"
#include "sim/ids.h"
#include "sim/schedulers/tensorrt_llm_args.h"

namespace poolcast {

/// TensorRT-LLM's MicroBatchScheduler (cpp/tensorrt_llm/batch_manager/microBatchScheduler.cpp and its mirror in
/// _torch/pyexecutor/scheduler/scheduler.py at 002f3cc3): which of the requests that the capacity scheduler let through
/// run in the step, and with how many tokens.
///
/// Requests are looked at in the order in which they are added. Without chunks the first that exceeds the budget of
/// max_num_tokens ends the step. With chunks all generation tokens come first and the prompts share what is left; a
/// chunk that does not end its prompt is rounded down to a multiple of the unit.
class TrtMicroBatch {
 public:
  struct Context {
    RequestId id;
    Tokens remaining = 0;  ///< of its prompt
    Tokens reusable = 0;   ///< of those, tokens that the cache is expected to give (first chunk only)
    Tokens chunk = 0;      ///< result: tokens of this step, those of the cache not subtracted
  };

  explicit TrtMicroBatch(const TensorrtLlmArgs& args)
      : args_(args), unit_(args.chunk_unit_size > 0 ? args.chunk_unit_size : args.tokens_per_block) {}

  void clear();
  /// False: the budget is spent, and nobody after this one is looked at.
  bool add_generations(std::int64_t count);
  bool add_context(const Context& context);
  /// Sets the chunks; afterwards `contexts` are those that run, in order of the step.
  void settle();

  const std::vector<Context>& contexts() const { return contexts_; }
  void drop_contexts() { contexts_.clear(); }

  /// Tokens that a chunk costs when the cache gives `reusable` of the `remaining` ones.
  static Tokens cost(Tokens chunk, Tokens reusable, Tokens remaining);

 private:
  void share_first_come(Tokens capacity);
  void share_equally(Tokens capacity);

  TensorrtLlmArgs args_;
  Tokens unit_;
  Tokens tokens_ = 0;     ///< generations, and whole prompts where there are no chunks
  Tokens in_chunks_ = 0;  ///< prompts that could be chunked
  bool all_fit_ = true;
  std::vector<Context> contexts_;
};

}  // namespace poolcast
