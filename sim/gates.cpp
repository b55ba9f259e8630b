// SPDX-License-Identifier: Apache-2.0
#include "sim/gates.h"

#include "sim/schedulers/registry.h"

namespace poolcast {

Reason refusal(const SimulationSpec& spec, const ImplementationSpec& implementation, std::int64_t prompt_tokens,
               std::int64_t output_tokens) {
  if (prompt_tokens + output_tokens > implementation.context_limit) return Reason::kContextLimit;
  return refusal(spec.pools[implementation.pool.value].engine, prompt_tokens, output_tokens);
}

}  // namespace poolcast
