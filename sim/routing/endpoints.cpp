// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/endpoints.h"

namespace poolcast::routing {

void Endpoints::reset(std::size_t count) {
  *this = Endpoints();
  waiting.assign(count, 0);
  running.assign(count, 0);
  kv_usage.assign(count, 0);
  metric_age_ms.assign(count, 0);
  in_flight_requests.assign(count, 0);
  in_flight_tokens.assign(count, 0);
  uncached_tokens.assign(count, 0);
  prefix.assign(count, PrefixMatch());
}

}  // namespace poolcast::routing
