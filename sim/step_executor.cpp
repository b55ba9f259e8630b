// SPDX-License-Identifier: Apache-2.0
#include "sim/step_executor.h"

namespace poolcast {

const std::vector<StepRow>& StepRows::spell_out(const StepPlan& plan, const DecodeSet& decodes) {
  rows_.clear();
  for (std::size_t i = 0; i < plan.prefill_ids.size(); ++i) {
    const PrefillChunk& chunk = plan.prefill[i];
    const RequestId id = plan.prefill_ids[i];
    rows_.push_back({id, chunk.query, chunk.context, chunk.context + chunk.query == table_.state(id).tokens});
  }
  for (const RequestId id : decoding_) {
    if (!table_.state(id).starved) rows_.push_back({id, 1, decodes.tokens(id) - 1, true});
  }
  return rows_;
}

void StepRows::joined(const std::vector<RequestId>& prefilled) {
  for (const RequestId id : prefilled) {
    if (table_.state(id).standing == Standing::kDecoding) decoding_.push_back(id);
  }
}

}  // namespace poolcast
