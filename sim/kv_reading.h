// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/time.h"

namespace poolcast {

/// The use of KV memory as it stands.
struct KvReading {
  double share = 0;        ///< of the memory
  SimTime until = kNever;  ///< the last instant at which it is that, if nothing happens but the steps that are planned
};

}  // namespace poolcast
