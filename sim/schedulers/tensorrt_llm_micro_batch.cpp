// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/tensorrt_llm_micro_batch.h"

#include <algorithm>

namespace poolcast {

void TrtMicroBatch::clear() {
  tokens_ = in_chunks_ = 0;
  all_fit_ = true;
  contexts_.clear();
}

Tokens TrtMicroBatch::cost(Tokens chunk, Tokens reusable, Tokens remaining) {
  if (reusable <= 0 || reusable + chunk < remaining) return chunk;
  return std::max<Tokens>(0, remaining - reusable);
}

bool TrtMicroBatch::add_generations(std::int64_t count) {
  if (tokens_ + count > args_.max_num_tokens) return false;
  tokens_ += count;
  return true;
}

bool TrtMicroBatch::add_context(const Context& context) {
  const Tokens whole = cost(context.remaining, context.reusable, context.remaining);
  if (args_.enable_chunked_prefill) {
    if (whole > args_.max_num_tokens) all_fit_ = false;
    in_chunks_ += std::min(whole, args_.max_num_tokens);
  } else {
    // A prompt beyond the whole budget can only be one that was paused; upstream never runs it again, here it runs
    // alone.
    const Tokens tokens = std::max<Tokens>(1, whole);
    if (tokens_ > 0 && tokens_ + tokens > args_.max_num_tokens) return false;
    tokens_ += tokens;
  }
  contexts_.push_back(context);
  contexts_.back().chunk = context.remaining;
  return true;
}

void TrtMicroBatch::settle() {
  if (!args_.enable_chunked_prefill) return;
  const Tokens capacity = args_.max_num_tokens - tokens_;
  if (all_fit_ && in_chunks_ <= capacity) return;
  if (args_.context_chunking_policy == TensorrtLlmArgs::ChunkingPolicy::kEqualProgress) {
    share_equally(capacity);
  } else {
    share_first_come(capacity);
  }
  std::erase_if(contexts_, [](const Context& c) { return c.chunk == 0; });
  // Prompts that end in this step go last.
  std::stable_partition(contexts_.begin(), contexts_.end(), [](const Context& c) { return c.chunk < c.remaining; });
}

/// In order; one that gets nothing does not stop the others.
void TrtMicroBatch::share_first_come(Tokens capacity) {
  for (Context& c : contexts_) {
    Tokens chunk = c.remaining;
    if (cost(chunk, c.reusable, c.remaining) > capacity) chunk = capacity;
    if (cost(chunk, c.reusable, c.remaining) > args_.max_num_tokens)
      chunk = std::min(args_.max_num_tokens, c.remaining);
    if (chunk < c.remaining) chunk = chunk / unit_ * unit_;
    c.chunk = chunk;
    capacity -= cost(chunk, c.reusable, c.remaining);
  }
}

/// One unit for each in turn, until the capacity is used or a round adds nothing.
void TrtMicroBatch::share_equally(Tokens capacity) {
  for (Context& c : contexts_) c.chunk = 0;
  Tokens given = 0;
  for (Tokens before = -1; given > before && given < capacity;) {
    before = given;
    for (Context& c : contexts_) {
      const Tokens chunk = std::min(c.chunk + unit_, c.remaining);
      const Tokens more = chunk - c.chunk;
      if (given + more > capacity || chunk > args_.max_num_tokens) continue;
      c.chunk = chunk;
      given += more;
    }
  }
}

}  // namespace poolcast
