// SPDX-License-Identifier: Apache-2.0
// What Router writes down for `explain`: the pools to which the gateway turned.
#include "sim/router.h"

namespace poolcast {

DecisionLog* Router::log_of(const RequestRecord& request) const {
  return spec_.log != nullptr && spec_.log->wants(request) ? spec_.log : nullptr;
}

void Router::log_choice(const RequestRecord& request, const Gateway::Filter& filter,
                        const Gateway::Choice& choice) const {
  DecisionLog* const log = log_of(request);
  if (log == nullptr) return;
  gateway_.log_choice(request, filter, choice.pool, *log);
  if (!filter.prefill) log_turn(request, gateway_.why(request, choice.pool), filter.model, choice.pool, choice.refused);
}

void Router::log_turn(const RequestRecord& request, DecisionLog::Turn::Why why, ModelId model, PoolId pool,
                      Reason refused) const {
  if (DecisionLog* const log = log_of(request)) log->way.push_back({now_, why, model, pool, refused});
}

void Router::log_copy(const RequestRecord& request, const Choice& choice) const {
  DecisionLog& log = *spec_.log;
  if (request.row != log.row || request.source != log.source) return;
  log.way.push_back(
      {now_, DecisionLog::Turn::Why::kMirror, gateway_.model_of(choice.pool), choice.pool, choice.refused});
}

}  // namespace poolcast
