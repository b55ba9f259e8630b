// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/units.h"
#include "sim/ids.h"

namespace poolcast {

/// Which blocks of a real paged KV cache each request holds. The scheduler counts blocks; here they have names. As it
/// never gives out more than there are, none is ever missing.
class BlockTables {
 public:
  BlockTables(std::int64_t blocks, std::int64_t block_size);

  /// The blocks for the first `tokens` tokens of a request, taking new ones as needed; a request that starts anew
  /// (`context` 0) gives up what it had. Valid until the request's next call.
  std::span<const std::int32_t> grow(RequestId id, Tokens context, Tokens tokens);
  void forget(RequestId id);

  std::int64_t free() const { return static_cast<std::int64_t>(free_.size()); }

 private:
  std::int64_t block_size_;
  std::vector<std::int32_t> free_;
  std::unordered_map<std::uint32_t, std::vector<std::int32_t>> tables_;  // by request; never iterated
};

}  // namespace poolcast
