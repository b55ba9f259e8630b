// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sim/schedulers/sglang_args.h"
#include "sim/schedulers/sglang_job.h"
#include "sim/schedulers/sglang_memory.h"

namespace poolcast {

/// Decides which waiting requests join a prefill batch (PrefillAdder of managers/schedule_policy.py at 8905cbd).
///
/// Memory is reserved in two sums: `rem_cur` counts what the batch takes now, `rem_total` also what the running
/// requests (their share by the new-token ratio) and the admitted ones (in full) may still produce.
class SglangAdder {
 public:
  using Job = SglangJobs::Job;
  enum class Result { kContinue, kNoToken, kOther };

  SglangAdder(const SglangArgs& args, SglangJobs& jobs, SglangMemory& memory)
      : args_(args), jobs_(jobs), memory_(memory) {}

  /// Starts a batch. `running` are the decoding requests, their `known` up to date; `mixed` of them take part in it.
  void start(const std::vector<Job>& running, Tokens mixed, double ratio);
  /// Takes the next chunk of a prompt that is partly prefilled; true when it is not the last one.
  bool add_chunk(Job job, Tokens at_most);
  Result add(Job job);
  /// Takes back what was reserved for a running request that gave way.
  void forget(const SglangJob& job) { off_total_ -= reserve(job); }
  double reserve(const SglangJob& job) const {
    return static_cast<double>(std::min(job.max_new - job.known, args_.clip_max_new_tokens)) * ratio_;
  }
  /// Whether a request that is alone may pass by the reserve, as long as there is memory for its prompt.
  void let_alone_pass(bool let) { let_alone_pass_ = let; }
  bool let_pass() const { return let_pass_; }  ///< whether it had to

  double rem_total() const { return static_cast<double>(memory_.reachable()) - off_total_; }
  Tokens rem_cur() const { return memory_.reachable() - off_cur_; }
  Tokens rem_input() const { return rem_input_; }
  std::optional<Tokens> rem_chunk() const { return rem_chunk_; }
  const std::vector<Job>& batch() const { return batch_; }
  /// The admitted request of which only a part fits into the chunk.
  std::optional<Job> new_chunked() const { return new_chunked_; }

 private:
  struct Ahead {
    double left;  ///< tokens until it ends
    double occupied;
  };

  Result budget() const;
  void charge(Tokens tokens, Tokens fresh);
  bool short_of(double total, Tokens extend);
  Result add_by_ends(Job job);
  void note_ahead(const SglangJob& job, bool in_order);
  bool ends_in_time(Job job);
  void admit(Job job, Tokens tokens);

  const SglangArgs& args_;
  SglangJobs& jobs_;
  SglangMemory& memory_;
  const std::vector<Job>* running_ = nullptr;
  double ratio_ = 0;
  double off_total_ = 0;
  Tokens off_cur_ = 0;
  Tokens rem_input_ = 0;
  std::optional<Tokens> rem_chunk_;
  std::optional<Job> new_chunked_;
  std::vector<Job> batch_;
  std::vector<Ahead> ahead_;
  bool ahead_known_ = false;
  bool let_alone_pass_ = false, let_pass_ = false;
};

}  // namespace poolcast
